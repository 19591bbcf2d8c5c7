// The GPU whose products nz explain predicts: a file's, this machine's, or an H200.
#include <fstream>

#include "cli/explain/explain.hpp"
#include "cli/page/embedded.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/gpu.hpp"

namespace nz::cli {
namespace {

std::string text_of(const std::string& path) {
    constexpr std::size_t most_bytes = 1 << 20;  // nz machine writes some thousands
    std::ifstream file(path, std::ios::binary);
    if (!file) throw parse_error(path, 0, "cannot be opened");
    std::string text(most_bytes, '\0');
    file.read(text.data(), std::streamsize(most_bytes));
    text.resize(std::size_t(file.gcount()));
    return text;
}

bool is_here(const std::string& file) { return file.empty() && why_no_gpu().empty(); }

known_gpu elsewhere(const std::string& file) {
    return file.empty() ? read_known_gpu(std::string(machine_of_an_h200), "an H200")
                        : read_known_gpu(text_of(file), file);
}

}  // namespace

gpu_info gpu_to_explain(const std::string& file) {
    return is_here(file) ? describe_gpu(gpu{}) : elsewhere(file).what;
}

machine_speeds speeds_to_explain(const std::string& file) {
    return is_here(file) ? speeds_of(gpu{}) : speeds_of(elsewhere(file));
}

}  // namespace nz::cli
