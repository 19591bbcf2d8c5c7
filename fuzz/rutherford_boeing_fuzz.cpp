// libFuzzer on the reader of Rutherford-Boeing files: a parse_error or a valid matrix. Seeds:
// test/data/rutherford_boeing.
#include "fuzz/fuzz_file.hpp"
#include "nonzero/io/rutherford_boeing/rutherford_boeing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string path = nz::fuzz::file_of(data, size);
    try {
        // A matrix of 2^31 empty rows is valid, and takes its 8 GB.
        if (nz::rutherford_boeing::inspect(path).shape.rows > 100000) return 0;
        nz::validate(nz::view(nz::rutherford_boeing::read<std::complex<double>>(path)));
    } catch (const nz::parse_error&) {
    }
    return 0;
}
