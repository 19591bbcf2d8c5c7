// Times reading one file into CSR, and prints JSON: for bench/io_bench.py.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "nonzero/io/io.hpp"

namespace {

/// The process's peak of resident memory.
std::int64_t peak_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::int64_t kib = 0;
        if (word == "VmHWM:" && status >> kib) return kib * 1024;
    }
    return 0;
}

/// Of all threads.
double cpu_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

template <class V>
void measure(const std::string& path, int threads) {
    const std::int64_t before = peak_bytes();
    const double cpu_before = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    const auto A = nz::read<V>(path, {.threads = threads});
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    fmt::print(R"({{"seconds": {}, "cpu": {}, "peak_bytes": {}, "csr_bytes": {}, "nnz": {}}})"
               "\n",
               elapsed.count(), cpu_seconds() - cpu_before, peak_bytes() - before, nz::bytes(A),
               A.val.size());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        fmt::print(stderr, "usage: read_bench FILE THREADS float|double\n");
        return 2;
    }
    try {
        const int threads = std::atoi(argv[2]);
        std::string_view(argv[3]) == "float" ? measure<float>(argv[1], threads)
                                             : measure<double>(argv[1], threads);
    } catch (const nz::error& e) {
        fmt::print(stderr, "read_bench: {}\n", e.what());
        return 3;
    }
}
