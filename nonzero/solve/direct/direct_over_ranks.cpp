#include "nonzero/solve/direct/direct_over_ranks.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/memory.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/dist/exchange.hpp"

namespace nz {
namespace {

/// The whole matrix on the first rank.
template <class V>
csr<V, host> joined(const communicator& ranks, const matrix_slice<V>& A) {
    host_vector<index> lengths;
    agree(&ranks, [&] {
        lengths.resize(std::size_t(A.own.shape.rows));
        for (std::size_t i = 0; i < lengths.size(); ++i)
            lengths[i] = index(A.own.row_ptr[i + 1] - A.own.row_ptr[i]);
    });
    const auto all = joined<index>(ranks, lengths);
    csr<V, host> whole{
        A.shape(), {}, joined<index>(ranks, A.own.col_ind), joined<V>(ranks, A.own.val)};
    agree(&ranks, [&] {
        host_vector<offset> ptr(all.size() + 1, 0);
        for (std::size_t i = 0; i < all.size(); ++i) ptr[i + 1] = ptr[i] + all[i];
        whole.row_ptr = offset_vector(ptr);
    });
    return whole;
}

}  // namespace

template <class V>
direct_over_ranks<V>::direct_over_ranks(const communicator& ranks, const matrix_slice<V>& A,
                                        double most_bytes, factor_forecast::libraries by)
    : ranks_(ranks), rows_(A.rows), entries_(summed(ranks, double(A.own.val.size()))) {
    const double bytes = entries_ * double(sizeof(V) + sizeof(index));
    agree(&ranks_, [&] {
        const auto all = double(memory_bytes());
        const double most = most_bytes > 0 ? most_bytes : all > 0 ? all / 2 : bytes;
        if (is_first() && bytes > most)
            throw unavailable(
                fmt::format("direct: A alone would take {} of the first rank, more than the {} "
                            "allowed",
                            text_of_bytes(bytes), text_of_bytes(most)));
    });
    A_ = joined(ranks_, A);
    agree(&ranks_, [&] {
        if (is_first()) plan_.emplace(view(A_), most_bytes, by);
    });
    forecast_ = gathered(ranks_, plan_ ? plan_->forecast() : factor_forecast{}).front();
}

template <class V>
void direct_over_ranks<V>::factorize() {
    agree(&ranks_, [&] {
        if (is_first()) factors_.emplace(view(A_), *plan_);
        A_ = {}, plan_.reset();
    });
    forecast_ = gathered(ranks_, factors_ ? factors_->forecast() : factor_forecast{}).front();
    made mine;
    if (factors_) mine = {factors_->entries(), factors_->perturbed_pivots(), factors_->seconds()};
    made_ = gathered(ranks_, mine).front();
}

template <class V>
void direct_over_ranks<V>::apply(std::span<const V> b, std::span<V> x) const {
    const auto rhs = joined<V>(ranks_, b);
    std::vector<host_vector<V>> to(std::size_t(ranks_.size()));
    agree(&ranks_, [&] {
        if (!is_first()) return;
        host_vector<V> solution(rhs.size());
        factors_->apply(rhs, solution);
        for (int p = 0; p < ranks_.size(); ++p) {
            const auto part = slice_of<V>(rows_, p, solution);
            to[std::size_t(p)].assign(part.begin(), part.end());
        }
    });
    std::ranges::copy(exchanged(ranks_, to).front(), x.begin());
}

#define NZ_INSTANTIATE(V) template class direct_over_ranks<V>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
