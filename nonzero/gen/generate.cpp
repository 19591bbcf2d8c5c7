#include "nonzero/gen/problems.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace nz {
namespace {

/// A parameter that generate() has found to be a whole number in index's range.
index whole(double v) { return index(v); }

template <class V>
std::vector<generator<V>> make_table() {
    using P = std::span<const double>;
    using S = std::uint64_t;
    const parameter nx{"nx", 100, true, "points along x"}, ny{"ny", 100, true, "points along y"},
        nz{"nz", 100, true, "points along z"}, n{"n", 100000, true, "rows and columns"};
    const parameter mx{"nx", 20, true, "cubes along x"}, my{"ny", 20, true, "cubes along y"},
        mz{"nz", 20, true, "cubes along z"};
    return {
        {"banded",
         "the diagonals up to half_width away, each entry kept with probability fill",
         {n,
          {"half_width", 5, true, "diagonals on either side"},
          {"fill", 1, false, "probability of an entry"}},
         true,
         [](P p, S seed) { return banded<V>(whole(p[0]), whole(p[1]), p[2], seed); }},
        {"blocks",
         "dense square blocks at random places",
         {{"n", 10000, true, "block rows"},
          {"side", 4, true, "rows of a block"},
          {"per_row", 8, true, "blocks in a block row"}},
         true,
         [](P p, S seed) { return blocks<V>(whole(p[0]), whole(p[1]), whole(p[2]), seed); }},
        {"circuit",
         "conductances of a circuit: near wires, a few far ones, supply rails with long rows",
         {n,
          {"per_node", 2, true, "wires a node, in addition to one to the node before"},
          {"rails", 4, true, "supply rails"}},
         true,
         [](P p, S seed) { return circuit<V>(whole(p[0]), whole(p[1]), whole(p[2]), seed); }},
        {"elasticity3d",
         "linear elasticity, trilinear hexahedra, 3 unknowns a node, one face clamped",
         {mx, my, mz, {"poisson", 0.3, false, "Poisson's ratio"}},
         false,
         [](P p, S) { return elasticity3d<V>(whole(p[0]), whole(p[1]), whole(p[2]), p[3]); }},
        {"laplace27",
         "27-point stencil in three dimensions",
         {nx, ny, nz},
         false,
         [](P p, S) { return laplace27<V>(whole(p[0]), whole(p[1]), whole(p[2])); }},
        {"laplace2d",
         "5-point Laplacian in two dimensions",
         {{"nx", 1000, true, "points along x"}, {"ny", 1000, true, "points along y"}},
         false,
         [](P p, S) { return laplace2d<V>(whole(p[0]), whole(p[1])); }},
        {"laplace3d",
         "7-point Laplacian in three dimensions",
         {nx, ny, nz},
         false,
         [](P p, S) { return laplace3d<V>(whole(p[0]), whole(p[1]), whole(p[2])); }},
        {"mixed2d",
         "mixed Poisson, lowest Raviart-Thomas elements on squares: a saddle point",
         {{"nx", 300, true, "squares along x"}, {"ny", 300, true, "squares along y"}},
         false,
         [](P p, S) { return mixed2d<V>(whole(p[0]), whole(p[1])); }},
        {"powerlaw",
         "row lengths by a power law, columns uniform",
         {n,
          {"mean", 10, false, "entries a row, on average"},
          {"exponent", 2.5, false, "of the density of row lengths, above 2"}},
         true,
         [](P p, S seed) { return powerlaw<V>(whole(p[0]), p[1], p[2], seed); }},
        {"random",
         "rows of one length, columns uniform",
         {{"rows", 100000, true, "rows"},
          {"cols", 100000, true, "columns"},
          {"per_row", 10, true, "entries a row"}},
         true,
         [](P p, S seed) { return random<V>(whole(p[0]), whole(p[1]), whole(p[2]), seed); }},
        {"rmat",
         "a directed graph by recursion into quadrants, duplicates dropped",
         {{"scale", 16, true, "2^scale vertices"},
          {"per_row", 16, true, "edges a vertex, before duplicates are dropped"},
          {"a", 0.57, false, "probability of the upper left quadrant"},
          {"b", 0.19, false, "of the upper right"},
          {"c", 0.19, false, "of the lower left"}},
         true,
         [](P p, S seed) { return rmat<V>(whole(p[0]), whole(p[1]), p[2], p[3], p[4], seed); }},
        {"stokes2d",
         "Stokes flow on staggered cells, open on one side: a saddle point",
         {{"nx", 200, true, "cells along x"}, {"ny", 200, true, "cells along y"}},
         false,
         [](P p, S) { return stokes2d<V>(whole(p[0]), whole(p[1])); }},
        {"stokes3d",
         "the same in three dimensions",
         {mx, my, mz},
         false,
         [](P p, S) { return stokes3d<V>(whole(p[0]), whole(p[1]), whole(p[2])); }},
    };
}

}  // namespace

template <class V>
const std::vector<generator<V>>& generators() {
    static const std::vector<generator<V>> table = make_table<V>();
    return table;
}

template <class V>
csr<V, host> generate(std::string_view name, std::span<const double> values, std::uint64_t seed) {
    const auto& all = generators<V>();
    const auto g = std::find_if(all.begin(), all.end(), [&](auto& e) { return e.name == name; });
    if (g == all.end())
        throw argument_error(
            fmt::format("no generator '{}'; `nz generate --list` lists them", name));
    if (values.size() != g->parameters.size())
        throw argument_error(fmt::format("{}: {} parameters, expected {}", name, values.size(),
                                         g->parameters.size()));
    for (std::size_t k = 0; k < values.size(); ++k) {
        const auto& p = g->parameters[k];
        const double v = values[k];
        if (!std::isfinite(v))
            throw argument_error(fmt::format("{}: {} is {}, expected a number", name, p.name, v));
        if (p.whole && (v != std::floor(v) || std::abs(v) > 2147483647))
            throw argument_error(
                fmt::format("{}: {} is {}, expected a whole number below 2^31", name, p.name, v));
    }
    return g->make(values, seed);
}

#define NZ_INSTANTIATE(V)                                   \
    template const std::vector<generator<V>>& generators(); \
    template csr<V, host> generate(std::string_view, std::span<const double>, std::uint64_t);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
