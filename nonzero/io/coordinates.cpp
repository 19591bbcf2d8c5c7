#include "nonzero/io/coordinates.hpp"

#include <fmt/format.h>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/io/io.hpp"

namespace nz {

node_coordinates read_coordinates(const std::string& path, index rows) {
    const auto M = read<double>(path);
    const auto [nodes, d] = M.shape;
    if (d != 2 && d != 3)
        throw argument_error(
            fmt::format("{}: {} x {}, expected 2 or 3 coordinates a node", path, nodes, d));
    if (std::int64_t(nodes) * d != rows)
        throw argument_error(
            fmt::format("{}: {} nodes of {} unknowns, but A has {} rows", path, nodes, d, rows));
    node_coordinates c{host_vector<double>(std::size_t(rows), 0.0), d};
    for_each_entry(view(M), 0, nodes, [&, d = d](index i, index j, double v) {
        c.all[std::size_t(i) * std::size_t(d) + std::size_t(j)] = v;
    });
    return c;
}

}  // namespace nz
