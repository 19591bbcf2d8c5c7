// Matrices of regular grids, and bands.
#include "nonzero/gen/counter.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/gen/rows.hpp"
#include "nonzero/gen/stencil_rows.hpp"

namespace nz {

index checked_size(const std::string& name, std::initializer_list<std::int64_t> sizes) {
    constexpr std::int64_t most = 2147483647;
    std::int64_t n = 1;
    for (const std::int64_t size : sizes) {
        expect(size >= 1, name + ": a size of " + std::to_string(size) + ", expected 1 or more");
        expect(size <= most / n, name + ": more than 2^31 - 1 rows or columns");
        n *= size;
    }
    return index(n);
}

namespace {

struct grid {
    index x, y, z;
};
struct point {
    index x, y, z;
};

point place(grid g, index row) { return {row % g.x, row / g.x % g.y, row / g.x / g.y}; }

/// The shape of some rows of a square matrix. Throws argument_error where they are not inside it.
shape some_rows(const std::string& name, index n, range rows) {
    expect(0 <= rows.first && rows.first <= rows.last && rows.last <= n,
           name + ": rows " + std::to_string(rows.first) + " to " + std::to_string(rows.last) +
               ", expected a range inside 0 to " + std::to_string(n));
    return {index(rows.last - rows.first), n};
}

/// Rows of: 2 d on the diagonal, -1 for the neighbours along each of the d axes.
template <class V>
csr<V, host> star(const std::string& name, grid g, double centre, range rows) {
    const index n = g.x * g.y * g.z, layer = g.x * g.y;
    return from_rows<V>(some_rows(name, n, rows), [=](index k, auto add) {
        const index i = index(rows.first) + k;
        const point p = place(g, i);
        if (p.z > 0) add(i - layer, -1.0);
        if (p.y > 0) add(i - g.x, -1.0);
        if (p.x > 0) add(i - 1, -1.0);
        add(i, centre);
        if (p.x < g.x - 1) add(i + 1, -1.0);
        if (p.y < g.y - 1) add(i + g.x, -1.0);
        if (p.z < g.z - 1) add(i + layer, -1.0);
    });
}

}  // namespace

template <class V>
csr<V, host> laplace2d_rows(index nx, index ny, range rows) {
    checked_size("laplace2d", {nx, ny});
    return star<V>("laplace2d", {nx, ny, 1}, 4, rows);
}
template <class V>
csr<V, host> laplace2d(index nx, index ny) {
    return laplace2d_rows<V>(nx, ny, {0, checked_size("laplace2d", {nx, ny})});
}

template <class V>
csr<V, host> laplace3d_rows(index nx, index ny, index nz, range rows) {
    checked_size("laplace3d", {nx, ny, nz});
    return star<V>("laplace3d", {nx, ny, nz}, 6, rows);
}
template <class V>
csr<V, host> laplace3d(index nx, index ny, index nz) {
    return laplace3d_rows<V>(nx, ny, nz, {0, checked_size("laplace3d", {nx, ny, nz})});
}

template <class V>
csr<V, host> laplace27(index nx, index ny, index nz) {
    return laplace27_rows<V>(nx, ny, nz, {0, checked_size("laplace27", {nx, ny, nz})});
}
template <class V>
csr<V, host> laplace27_rows(index nx, index ny, index nz, range rows) {
    const index n = checked_size("laplace27", {nx, ny, nz});
    const grid g{nx, ny, nz};
    return from_rows<V>(some_rows("laplace27", n, rows), [=](index k, auto add) {
        const index i = index(rows.first) + k;
        const point p = place(g, i);
        for (index z = std::max(p.z - 1, 0); z <= std::min(p.z + 1, g.z - 1); ++z)
            for (index y = std::max(p.y - 1, 0); y <= std::min(p.y + 1, g.y - 1); ++y)
                for (index x = std::max(p.x - 1, 0); x <= std::min(p.x + 1, g.x - 1); ++x) {
                    const index j = x + g.x * (y + g.y * z);
                    add(j, j == i ? 26.0 : -1.0);
                }
    });
}

template <class V>
csr<V, host> banded(index n, index half_width, double fill, std::uint64_t seed) {
    checked_size("banded", {n});
    expect(half_width >= 0, "banded: half_width is negative");
    expect(fill >= 0 && fill <= 1, "banded: fill is not between 0 and 1");
    // Before counting, which alone would take days for the largest arguments.
    expect_memory("the band", double(n) * std::min(half_width, n / 2) * fill * sizeof(V));
    return from_rows<V>({n, n}, [=](index i, auto add) {
        const counter draw(seed, std::uint64_t(i));
        const std::int64_t last = std::min<std::int64_t>(std::int64_t(i) + half_width, n - 1);
        for (std::int64_t j = std::max(i - half_width, 0); j <= last; ++j) {
            const auto k = 2 * std::uint64_t(j);
            if (j == i || draw.uniform(k) < fill) add(index(j), draw.value<V>(k + 1));
        }
    });
}

#define NZ_INSTANTIATE(V)                                             \
    template csr<V, host> laplace2d(index, index);                    \
    template csr<V, host> laplace3d(index, index, index);             \
    template csr<V, host> laplace27(index, index, index);             \
    template csr<V, host> laplace2d_rows(index, index, range);        \
    template csr<V, host> laplace3d_rows(index, index, index, range); \
    template csr<V, host> laplace27_rows(index, index, index, range); \
    template csr<V, host> banded(index, index, double, std::uint64_t);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
