// libFuzzer on the .npz reader: a parse_error or a valid matrix. Seeds: test/data/npz.
#include "fuzz/fuzz_file.hpp"
#include "nonzero/io/npz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string path = nz::fuzz::file_of(data, size);
    try {
        // A matrix of 2^31 empty rows or columns is valid, and takes its 8 GB.
        const auto info = nz::npz::inspect(path);
        if (info.shape.rows > 100000 || info.shape.cols > 100000) return 0;
        nz::validate(nz::view(nz::npz::read<std::complex<double>>(path)));
    } catch (const nz::parse_error&) {
    }
    return 0;
}
