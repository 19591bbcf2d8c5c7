// libFuzzer on the reader of METIS's graphs: a parse_error or a valid matrix, the same for every
// size of chunk. Seeds: test/data/metis_graph.
#include "fuzz/fuzz_file.hpp"
#include "nonzero/io/metis_graph.hpp"

namespace {

struct outcome {
    nz::csr<double, nz::host> A{};
    std::string failure;
};

outcome read(const std::string& path, int threads, std::size_t chunk) {
    try {
        return {nz::metis_graph::read<double>(path, {.threads = threads}, chunk), {}};
    } catch (const nz::parse_error& e) {
        return {{}, e.what()};
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string path = nz::fuzz::file_of(data, size);
    const outcome whole = read(path, 1, 0), cut = read(path, 1, 5);
    if (whole.failure != cut.failure || whole.A.col_ind != cut.A.col_ind) std::abort();
    if (whole.failure.empty()) nz::validate(nz::view(whole.A));
    return 0;
}
