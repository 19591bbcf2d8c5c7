// Triangular matrices, and what solves with two of them: exactly, or by approximate inverses.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/preconditioners/factors.hpp"
#include "nonzero/solve/preconditioners/triangular/faster_way.hpp"
#include "nonzero/solve/preconditioners/triangular/level_schedule.hpp"
#include "nonzero/solve/preconditioners/triangular/triangular_on_gpu.hpp"

namespace nz {

/// A triangular matrix of n rows.
template <class V>
struct triangle {
    triangle_side side = triangle_side::lower;
    /// n x n, the entries beside the diagonal. The columns of a row run towards the diagonal: the
    /// neighbour, whose element is the last to be known, is the last to be asked for.
    csr<V, host> beside;
    host_vector<V> inverse;  ///< n: 1 over the diagonal; empty where it is all ones
};

/// x = T^-1 b by all threads, or by one where that turns out to be faster: the schedule counts
/// work, and how long threads wait for each other depends on the machine. Same bits. b and x may be
/// the same.
template <class V>
class triangular_solver {
  public:
    triangular_solver(cpu on, triangle<V> T);
    void solve(std::span<const V> b, std::span<V> x) const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    triangle<V> T_;
    level_schedule schedule_;
    mutable faster_way faster_;  ///< the schedule's, or the rows in their order
};

/// A^H, columns ascending.
template <class V>
csr<V, host> adjoint(cpu on, const csr<V, host>& A);

/// An inverse of T on the pattern of T: in each row the entries M_ij of that pattern for which
/// (M T)_ij is that of the identity. A row that overflows keeps its diagonal alone. Columns ascend.
/// Source   Anzt et al. 2018, doi:10.1016/j.parco.2017.10.003 (ISAI).
template <class V>
csr<V, host> approximate_inverse(cpu on, const triangle<V>& T);

/// y = second^-1 first^-1 x, or approximately so.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> solving_operator(B on, triangle<V> first, triangle<V> second,
                                                        incomplete_options::triangular_solves how);
/// The same of triangles that lie on the GPU.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> solving_operator(
    gpu on, const device_triangle<V>& first, const device_triangle<V>& second,
    incomplete_options::triangular_solves how);
/// y = second (first x), a planned product each.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> operator_of_two(B on, csr<V, host> first,
                                                       csr<V, host> second);

}  // namespace nz
