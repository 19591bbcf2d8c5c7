// libFuzzer on the reader of edge lists: a parse_error or a valid matrix with a name for every
// node, the same for every size of chunk. The first byte says what stands between words. Seeds:
// test/data/edge_list.
#include "fuzz/fuzz_file.hpp"
#include "nonzero/io/edge_list.hpp"

namespace {

struct outcome {
    nz::named_matrix<double> G{};
    std::string failure;
};

outcome read(const std::string& path, int threads, std::size_t chunk) {
    try {
        return {nz::edge_list::read<double>(path, {.threads = threads}, chunk), {}};
    } catch (const nz::parse_error& e) {
        return {{}, e.what()};
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const char* const endings[] = {".txt", ".tsv", ".csv"};
    const std::string ending = endings[size == 0 ? 0 : data[0] % 3];
    const std::string path = nz::fuzz::file_of(data, size, ending);
    const outcome whole = read(path, 1, 0), cut = read(path, 1, 5);
    if (whole.failure != cut.failure || whole.G.A.col_ind != cut.G.A.col_ind) std::abort();
    if (whole.G.names.name != cut.G.names.name) std::abort();
    if (whole.G.names.number != cut.G.names.number) std::abort();
    if (whole.failure.empty()) nz::validate(nz::view(whole.G.A));
    const nz::index rows = whole.G.A.shape.rows;
    if (rows > 0 && whole.G.names.of(rows - 1).empty()) std::abort();
    return 0;
}
