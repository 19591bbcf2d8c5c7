#include <Eigen/SparseCore>

#include "bench/peers/peers.hpp"
#include "nonzero/core/threads.hpp"

namespace nz::peers {
namespace {

template <class V>
class eigen_operator final : public plain_operator<V> {
    using matrix = Eigen::SparseMatrix<V, Eigen::RowMajor, std::int32_t>;
    using vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;

  public:
    eigen_operator(cpu on, const csr<V, host_view>& A)
        : plain_operator<V>(A),
          threads_(thread_count(on)),
          map_(A.shape.rows, A.shape.cols, Eigen::Index(A.val.size()), narrow_row_ptr(A),
               A.col_ind.data(), A.val.data()) {}

  protected:
    void multiply(V alpha, std::span<const V> x, V beta, std::span<V> y) const override {
        Eigen::setNbThreads(threads_);
        const Eigen::Map<const vector> from(x.data(), Eigen::Index(x.size()));
        Eigen::Map<vector> to(y.data(), Eigen::Index(y.size()));
        if (alpha == V(1) && beta == V(0)) {
            to.noalias() = map_ * from;
        } else {
            this->scale(beta, y);
            to.noalias() += alpha * (map_ * from);
        }
    }

  private:
    int threads_;
    Eigen::Map<const matrix> map_;
};

template <class V>
std::unique_ptr<linear_operator<V, cpu>> build(cpu on, const csr<V, host_view>& A) {
    return std::make_unique<eigen_operator<V>>(on, A);
}

}  // namespace

template <class V>
method<V> eigen_csr() {
    return peer_row<V>("eigen.csr", "Eigen 3.4, SparseMatrix<V, RowMajor>", build<V>);
}

std::string eigen_version() {
    return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
           std::to_string(EIGEN_MINOR_VERSION);
}

#define NZ_INSTANTIATE(V) template method<V> eigen_csr();
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::peers
