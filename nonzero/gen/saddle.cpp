// Saddle points on staggered grids: Stokes flow and mixed Poisson.
#include <array>

#include "nonzero/gen/problems.hpp"
#include "nonzero/gen/rows.hpp"

namespace nz {
namespace {

using triple = std::array<index, 3>;

/// The faces of the cells that carry an unknown, along the axis that they are normal to.
enum class faces_kept { all, inner_and_far_x };

/// A grid of cells with an unknown on faces normal to each axis, axis after axis, then one in each
/// cell; in each of these groups x varies fastest.
class staggered {
  public:
    staggered(const std::string& name, triple cells, std::size_t axes, faces_kept kept)
        : axes_(axes), kept_(kept), cells_(cells) {
        const std::int64_t inside = checked_size(name, {cells[0], cells[1], cells[2]});
        std::int64_t n = 0;
        for (std::size_t a = 0; a < axes; ++a) {
            expect(faces(a) >= 1, name + ": a size below 2");
            first_[a] = index(n);
            n += inside / cells[a] * faces(a);
            expect(n + inside <= 2147483647, name + ": more than 2^31 - 1 rows or columns");
        }
        first_[3] = index(n);
        rows_ = index(n + inside);
    }
    [[nodiscard]] index rows() const { return rows_; }
    [[nodiscard]] std::size_t axes() const { return axes_; }
    [[nodiscard]] index cells(std::size_t a) const { return cells_[a]; }
    /// Faces normal to the axis, along it.
    [[nodiscard]] index faces(std::size_t a) const {
        return kept_ == faces_kept::all ? cells_[a] + 1 : cells_[a] - (a > 0);
    }
    /// The first of them lies behind the first cell, not before it.
    [[nodiscard]] index cells_before() const { return kept_ == faces_kept::all ? 0 : 1; }
    /// The axis that row i's face is normal to; 3: a cell.
    [[nodiscard]] std::size_t axis_of(index i) const {
        if (i >= first_[3]) return 3;
        std::size_t a = 0;
        while (a + 1 < axes_ && i >= first_[a + 1]) ++a;
        return a;
    }
    /// The unknowns of the axis (3: of the cells) along each axis.
    [[nodiscard]] triple sizes(std::size_t axis) const {
        triple n = cells_;
        if (axis < 3) n[axis] = faces(axis);
        return n;
    }
    [[nodiscard]] triple place(std::size_t axis, index i) const {
        const triple n = sizes(axis);
        const index k = i - first_[axis];
        return {k % n[0], k / n[0] % n[1], k / n[0] / n[1]};
    }
    [[nodiscard]] index row(std::size_t axis, triple at) const {
        const triple n = sizes(axis);
        return first_[axis] + at[0] + n[0] * (at[1] + n[1] * at[2]);
    }

    /// The differences of cells across a face, -1 and 1; or, of a cell, its faces', 1 and -1.
    template <class Add>
    void add_gradient(std::size_t axis, triple at, Add add) const {
        triple cell = at;
        cell[axis] += cells_before() - 1;
        if (cell[axis] >= 0) add(row(3, cell), -1.0);
        if (++cell[axis] < cells_[axis]) add(row(3, cell), 1.0);
    }
    template <class Add>
    void add_divergence(triple cell, Add add) const {
        for (std::size_t a = 0; a < axes_; ++a) {
            triple face = cell;
            face[a] -= cells_before();
            if (face[a] >= 0) add(row(a, face), 1.0);
            if (++face[a] < faces(a)) add(row(a, face), -1.0);
        }
    }

  private:
    std::size_t axes_;
    faces_kept kept_;
    triple cells_;
    std::array<index, 4> first_{};
    index rows_ = 0;
};

/// The part of -Laplace's diagonal that a velocity's side without a neighbour has: a wall where its
/// next face would be, a wall half a cell away, or the open side, behind which nothing changes.
double wall(std::size_t component, std::size_t axis, bool far) {
    if (far && axis == 0) return 0;
    return component == axis ? 1 : 2;
}

template <class V>
csr<V, host> stokes(const std::string& name, triple cells, std::size_t axes) {
    const staggered grid(name, cells, axes, faces_kept::inner_and_far_x);
    return from_rows<V>({grid.rows(), grid.rows()}, [&](index i, auto add) {
        const std::size_t c = grid.axis_of(i);
        const triple at = grid.place(c, i), n = grid.sizes(c);
        if (c == 3) return grid.add_divergence(at, add);
        double centre = 0;
        std::array<index, 3> step{1, n[0], n[0] * n[1]};
        for (std::size_t a = axes; a-- > 0;) {
            centre += at[a] > 0 ? 1 : wall(c, a, false);
            centre += at[a] + 1 < n[a] ? 1 : wall(c, a, true);
            if (at[a] > 0) add(i - step[a], -1.0);
        }
        add(i, centre);
        for (std::size_t a = 0; a < axes; ++a)
            if (at[a] + 1 < n[a]) add(i + step[a], -1.0);
        grid.add_gradient(c, at, add);
    });
}

}  // namespace

template <class V>
csr<V, host> stokes2d(index nx, index ny) {
    return stokes<V>("stokes2d", {nx, ny, 1}, 2);
}

template <class V>
csr<V, host> stokes3d(index nx, index ny, index nz) {
    return stokes<V>("stokes3d", {nx, ny, nz}, 3);
}

template <class V>
csr<V, host> mixed2d(index nx, index ny) {
    const staggered grid("mixed2d", {nx, ny, 1}, 2, faces_kept::all);
    return from_rows<V>({grid.rows(), grid.rows()}, [&](index i, auto add) {
        const std::size_t c = grid.axis_of(i);
        const triple at = grid.place(c, i);
        if (c == 3) return grid.add_divergence(at, add);
        const index step = c == 0 ? 1 : grid.sizes(c)[0];
        const bool before = at[c] > 0, behind = at[c] < grid.cells(c);
        if (before) add(i - step, 1.0 / 6);
        add(i, (before + behind) / 3.0);
        if (behind) add(i + step, 1.0 / 6);
        grid.add_gradient(c, at, add);
    });
}

#define NZ_INSTANTIATE(V)                                \
    template csr<V, host> stokes2d(index, index);        \
    template csr<V, host> stokes3d(index, index, index); \
    template csr<V, host> mixed2d(index, index);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
