// libFuzzer on the Matrix Market reader: a parse_error or a valid matrix, the same for every size
// of chunk. Seeds: test/data/mtx.
#include "fuzz/fuzz_file.hpp"
#include "nonzero/io/matrix_market/matrix_market.hpp"

namespace {

using V = std::complex<double>;

/// Result of reading: the matrix, or why there is none.
struct outcome {
    nz::csr<V, nz::host> A{};
    std::string failure;
};

outcome read(const std::string& path, int threads, std::size_t chunk) {
    try {
        return {nz::matrix_market::read<V>(path, {.threads = threads}, chunk), {}};
    } catch (const nz::parse_error& e) {
        return {{}, e.what()};
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string path = nz::fuzz::file_of(data, size);
    try {
        // A matrix of 2^31 empty rows is valid, and takes its 8 GB.
        const auto info = nz::inspect(path);
        if (info.shape.rows > 100000 || info.shape.cols > 100000) return 0;
    } catch (const nz::parse_error&) {
        return 0;
    }
    const outcome whole = read(path, 1, 0);
    const outcome cut = read(path, 1, 5);
    if (whole.failure != cut.failure || whole.A.col_ind != cut.A.col_ind) std::abort();
    if (whole.failure.empty()) nz::validate(nz::view(whole.A));
    return 0;
}
