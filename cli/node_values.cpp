#include "cli/node_values.hpp"

#include <fmt/core.h>

#include "nonzero/io/atomic_file.hpp"

namespace nz::cli {

template <class T>
void write_node_values(const std::string& path, const node_names& names,
                       std::span<const T> values) {
    if (path.empty()) return;
    if (path != "-" && !path.ends_with(".tsv")) {
        const host_vector<double> numbers(values.begin(), values.end());
        return write_vector<double>(path, numbers);
    }
    constexpr std::size_t block_bytes = std::size_t(1) << 20;
    atomic_file file(path);
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        text += fmt::format("{}\t{}\n", names.of(index(i)), values[i]);
        if (text.size() < block_bytes) continue;
        file.write(text);
        text.clear();
    }
    file.write(text);
    file.commit();
}

template void write_node_values(const std::string&, const node_names&, std::span<const index>);
template void write_node_values(const std::string&, const node_names&, std::span<const float>);
template void write_node_values(const std::string&, const node_names&, std::span<const double>);

}  // namespace nz::cli
