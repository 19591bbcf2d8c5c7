// Linear elasticity on a block of cubes.
#include <array>

#include "nonzero/core/parallel.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/gen/rows.hpp"

namespace nz {
namespace {

/// The stiffness of one cube of side 1: coupling of unknown p of corner a with q of corner b.
/// Corner a lies at (a & 1, a >> 1 & 1, a >> 2).
///
///     K = lambda G[p][q] + mu (G[q][p] + (p == q) sum_r G[r][r]),  G[p][q] = int d_p N_a d_q N_b
///
/// The shape functions are products of 1 - t and t, so G is a product of integrals along the axes,
/// and K[a][b][p][q] equals K[b][a][q][p] bit for bit. Source: any text on finite elements.
class stiffness {
  public:
    explicit stiffness(double poisson)
        : lambda_(poisson / ((1 + poisson) * (1 - 2 * poisson))), mu_(0.5 / (1 + poisson)) {
        for (int a = 0; a < 8; ++a)
            for (int b = 0; b < 8; ++b)
                for (int p = 0; p < 3; ++p)
                    for (int q = 0; q < 3; ++q) entry(a, b, p, q) = integrate(a, b, p, q);
    }
    [[nodiscard]] double operator()(int a, int b, int p, int q) const {
        return K_[std::size_t(((a * 8 + b) * 3 + p) * 3 + q)];
    }

  private:
    double& entry(int a, int b, int p, int q) {
        return K_[std::size_t(((a * 8 + b) * 3 + p) * 3 + q)];
    }
    /// The integral over [0, 1] of N_a N_b, either of them differentiated: N_0 = 1 - t, N_1 = t.
    static double along_axis(int a, int b, bool derive_a, bool derive_b) {
        if (derive_a && derive_b) return a == b ? 1 : -1;
        if (derive_a) return a == 1 ? 0.5 : -0.5;
        if (derive_b) return b == 1 ? 0.5 : -0.5;
        return a == b ? 1.0 / 3 : 1.0 / 6;
    }
    static double gradients(int a, int b, int p, int q) {
        double g = 1;
        for (int axis = 0; axis < 3; ++axis)
            g *= along_axis(a >> axis & 1, b >> axis & 1, p == axis, q == axis);
        return g;
    }
    [[nodiscard]] double integrate(int a, int b, int p, int q) const {
        double shear = gradients(a, b, q, p);
        if (p == q) shear += gradients(a, b, 0, 0) + gradients(a, b, 1, 1) + gradients(a, b, 2, 2);
        return lambda_ * gradients(a, b, p, q) + mu_ * shear;
    }
    double lambda_, mu_;
    std::array<double, 8 * 8 * 9> K_{};
};

/// Where a node lies along an axis: on the lower face, inside, or on the upper face.
index place(index node, index cubes) { return node == 0 ? 0 : node == cubes ? 2 : 1; }

/// The coupling of unknown p of a node with q of the one `step` away, summed over the cubes they
/// share, for every place of a node. In a mesh of 2 x 2 x 2 cubes a node's coordinates are its
/// places, so that one mesh shows all there are.
class couplings {
  public:
    explicit couplings(const stiffness& K) {
        double* to = table_.data();
        for (int node = 0; node < 27; ++node)
            for (int step = 0; step < 27; ++step)
                for (int p = 0; p < 3; ++p)
                    for (int q = 0; q < 3; ++q)
                        *to++ = assemble(K, {node % 3, node / 3 % 3, node / 9},
                                         {step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1}, p, q);
    }
    /// The three of q, from a node's places and the step, each as a number of base 3.
    [[nodiscard]] const double* at(index places, index step, index p) const {
        return table_.data() + ((places * 27 + step) * 3 + p) * 3;
    }

  private:
    using triple = std::array<int, 3>;
    static double assemble(const stiffness& K, triple node, triple step, int p, int q) {
        double sum = 0;
        for (int a = 7; a >= 0; --a) {  // the node is corner a of a cube, from the first cube on
            int b = 0;
            bool shared = true;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const int corner = a >> axis & 1, other = corner + step[axis];
                const int cube = node[axis] - corner;
                shared = shared && other >= 0 && other <= 1 && cube >= 0 && cube < 2;
                b |= (other & 1) << axis;
            }
            if (shared) sum += K(a, b, p, q);
        }
        return sum;
    }
    std::array<double, 27 * 27 * 9> table_{};
};

index checked_rows(index nx, index ny, index nz) {
    const index n =
        checked_size("elasticity3d", {3, nx, std::int64_t(ny) + 1, std::int64_t(nz) + 1});
    expect(ny >= 1 && nz >= 1, "elasticity3d: a size below 1");
    return n;
}

}  // namespace

host_vector<double> elasticity3d_nodes(index nx, index ny, index nz) {
    host_vector<double> xyz(std::size_t(checked_rows(nx, ny, nz)));
    parallel_for(thread_count({}), std::ssize(xyz) / 3, [&](std::int64_t node) {
        double* const to = xyz.data() + 3 * node;
        to[0] = double(node % nx + 1);
        to[1] = double(node / nx % (ny + 1));
        to[2] = double(node / nx / (ny + 1));
    });
    return xyz;
}

template <class V>
csr<V, host> elasticity3d(index nx, index ny, index nz, double poisson) {
    expect(poisson > -1 && poisson < 0.5, "elasticity3d: poisson is not between -1 and 0.5");
    const index n = checked_rows(nx, ny, nz);
    const couplings table{stiffness(poisson)};
    return from_rows<V>({n, n}, [&](index i, auto add) {
        const index node = i / 3, p = i % 3;
        const index x = node % nx + 1, y = node / nx % (ny + 1), z = node / nx / (ny + 1);
        const index places = place(x, nx) + 3 * place(y, ny) + 9 * place(z, nz);
        for (index dz = -(z > 0); dz <= (z < nz); ++dz)
            for (index dy = -(y > 0); dy <= (y < ny); ++dy)
                for (index dx = -(x > 1); dx <= (x < nx); ++dx) {
                    const index j = 3 * (node + dx + nx * (dy + (ny + 1) * dz));
                    const index step = dx + 1 + 3 * (dy + 1) + 9 * (dz + 1);
                    const double* const coupling = table.at(places, step, p);
                    for (index q = 0; q < 3; ++q) add(j + q, coupling[q]);
                }
    });
}

#define NZ_INSTANTIATE(V) template csr<V, host> elasticity3d(index, index, index, double);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
