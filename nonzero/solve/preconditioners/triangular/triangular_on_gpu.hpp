// Triangular matrices on a GPU: the order in which their rows are computed, and exact solves.
#pragma once

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/solve/preconditioners/triangular/triangle_side.hpp"

namespace nz {

/// A triangle in a GPU's memory.
template <class V>
struct device_triangle {
    triangle_side side = triangle_side::lower;
    csr<V, device> beside;    ///< as of a triangle
    device_array<V> inverse;  ///< n, or none where it is all ones
};

/// Rows in the order of their levels: a row's level is one above the highest of those that it waits
/// for. Rows of one level are in the order in which one thread would compute them.
struct level_order {
    device_array<index> row;  ///< n
    index levels = 0;
};
/// Of rows that wait for the columns that they have on that side of the diagonal; no rows where
/// they stand on more than `most` levels. Waits for the GPU.
level_order order_by_level(gpu on, triangle_side side, index rows, device_offset_span row_ptr,
                           device_span<index> col_ind, index most);

/// x = second^-1 first^-1 b by one kernel each. Rows are started in the order of their levels and
/// wait for the elements that they need, each of which is its own signal: no barrier, and no launch
/// a level. Same bits on every run. Its launches can be captured in a graph; calls share memory, so
/// they belong in one stream.
/// Source   Liu et al. 2016, doi:10.1007/978-3-319-43659-3_45 (no barriers); Naumov 2011,
///          NVR-2011-001 (levels).
template <class V>
class triangles_on_gpu {
  public:
    /// Waits for the GPU.
    triangles_on_gpu(gpu on, const device_triangle<V>& first, const device_triangle<V>& second);
    void solve(device_span<V> b, device_out<V> x) const;
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] index levels() const { return first_.levels + second_.levels; }

  private:
    /// Rows in the order of their levels, columns by their places in it.
    struct ordered_rows {
        index levels = 0;
        double mean_length = 0;
        device_array<index> row;    ///< n
        device_array<index> place;  ///< n: of each row; while they are made
        csr<V, device> beside;
        device_array<V> inverse;   ///< n, or none
        device_array<V> solution;  ///< n; between calls all elements say that they are not known
        device_array<unsigned> started;  ///< 1: blocks of the kernel under way
    };
    static ordered_rows ordered(gpu on, const device_triangle<V>& T);

    gpu on_;
    ordered_rows first_, second_;
    device_array<index> right_hand_side_;  ///< n: for each row of second_, its place in first_
};

/// As approximate_inverse of the same triangle on the CPU, whose bits it has.
template <class V>
csr<V, device> approximate_inverse(gpu on, const device_triangle<V>& T);

}  // namespace nz
