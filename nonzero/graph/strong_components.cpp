#include "nonzero/graph/strong_components.hpp"

#include <algorithm>

#include "nonzero/core/error.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {
namespace {

/// The search, node by node.
template <class V>
class depth_first {
  public:
    explicit depth_first(const csr<V, host_view>& A)
        : A_(A), low_(std::size_t(A.shape.rows), 0), next_(std::size_t(A.shape.rows), 0) {
        found.assign(std::size_t(A.shape.rows), -1);
    }

    host_vector<index> found;  ///< each node's component

    /// Numbers the components of all nodes that can be reached from a node.
    void from(index start) {
        if (low_[std::size_t(start)] != 0) return;
        enter(start);
        while (!path_.empty()) {
            const index i = path_.back();
            const std::size_t at = std::size_t(i);
            if (next_[at] < A_.row_ptr[at + 1]) {
                follow(i, A_.col_ind[std::size_t(next_[at]++)]);
                continue;
            }
            path_.pop_back();
            leave(i);
        }
    }

  private:
    void enter(index i) {
        low_[std::size_t(i)] = ++entered_;
        order_.push_back(entered_);
        next_[std::size_t(i)] = A_.row_ptr[std::size_t(i)];
        path_.push_back(i);
        open_.push_back(i);
    }
    void follow(index i, index to) {
        if (low_[std::size_t(to)] == 0) return enter(to);
        if (found[std::size_t(to)] < 0)
            low_[std::size_t(i)] = std::min(low_[std::size_t(i)], low_[std::size_t(to)]);
    }
    /// All links of i have been followed. It is the first of its component where none leads to a
    /// node that was entered before.
    void leave(index i) {
        const index entered = order_.back();
        order_.pop_back();
        const index low = low_[std::size_t(i)];
        if (low < entered) {  // and so is a node of the path, which it leads to
            index& before = low_[std::size_t(path_.back())];
            before = std::min(before, low);
            return;
        }
        for (index last = -1; last != i; open_.pop_back()) {
            last = open_.back();
            found[std::size_t(last)] = count_;
        }
        ++count_;
    }

    const csr<V, host_view>& A_;
    host_vector<index> low_;    ///< the earliest entry that is known to be reached; 0: not entered
    host_vector<offset> next_;  ///< the link that is followed next
    host_vector<index> path_, order_;  ///< from the start to here, and when each was entered
    host_vector<index> open_;          ///< entered, of no component yet
    index entered_ = 0, count_ = 0;
};

}  // namespace

template <class V>
host_vector<index> strong_components_of(const csr<V, host_view>& A) {
    validate(A, false);
    if (A.shape.rows != A.shape.cols)
        throw argument_error("strong components: the matrix is " + std::to_string(A.shape.rows) +
                             " x " + std::to_string(A.shape.cols) + ", expected a square one");
    depth_first<V> search(A);
    for (index i = 0; i < A.shape.rows; ++i) search.from(i);
    return std::move(search.found);
}

#define NZ_INSTANTIATE(V) \
    template host_vector<index> strong_components_of(const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
