#include "nonzero/dist/assembly.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/exchange.hpp"
#include "nonzero/dist/share_out.hpp"

namespace nz {
namespace {

/// Values of rows that are shared out in one way to the ranks that have them in another.
host_vector<index> moved_to(const communicator& ranks, const shares& from, const shares& to,
                            std::span<const index> own) {
    const range mine = from.of(ranks.rank());
    std::vector<host_vector<index>> lists(std::size_t(ranks.size()));
    for (int r = 0; r < ranks.size(); ++r) {
        const range theirs = to.of(r);
        const auto first = std::max(mine.first, theirs.first);
        const auto last = std::min(mine.last, theirs.last);
        if (first < last)
            lists[std::size_t(r)].assign(own.begin() + (first - mine.first),
                                         own.begin() + (last - mine.first));
    }
    host_vector<index> all;
    all.reserve(std::size_t(to.count(ranks.rank())));
    for (const auto& list : exchanged(ranks, lists))
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

}  // namespace

row_counter::row_counter(const communicator& ranks, index rows)
    : ranks_(ranks),
      counted_(equal_shares(rows, ranks.size())),
      lengths_(std::size_t(counted_.count(ranks.rank())), 0) {}

void row_counter::add(std::span<const index> rows) {
    std::vector<host_vector<index>> to(std::size_t(ranks_.size()));
    agree(&ranks_, [&] {
        for (const index i : rows) to[std::size_t(counted_.owner(i))].push_back(i);
    });
    const auto first = index(counted_.of(ranks_.rank()).first);
    for (const auto& list : exchanged(ranks_, to))
        for (const index i : list) ++lengths_[std::size_t(i - first)];
}

counted_rows row_counter::finish() const {
    counted_rows all{balanced_shares(ranks_, counted_.total(), lengths_), {}};
    all.lengths = moved_to(ranks_, counted_, all.rows, lengths_);
    return all;
}

template <class V>
row_filler<V>::row_filler(const communicator& ranks, counted_rows counted, index cols)
    : ranks_(ranks), rows_(std::move(counted.rows)), left_(std::move(counted.lengths)) {
    agree(&ranks_, [&] {
        if (ranks_.size() > 1 + std::numeric_limits<std::uint16_t>::max())
            throw argument_error("row_filler: more than 65,536 ranks");
        ptr_.reserve(left_.size() + 1);
        for (const index length : left_) ptr_.push_back(ptr_.back() + length);
        own_.shape = {index(left_.size()), cols};
        const auto entries = std::size_t(ptr_.back());
        own_.col_ind.resize(entries), own_.val.resize(entries), sender_.resize(entries);
    });
}

template <class V>
void row_filler<V>::add(std::span<const index> row, std::span<const index> col,
                        std::span<const V> val) {
    std::vector<host_vector<entry<V>>> to(std::size_t(ranks_.size()));
    agree(&ranks_, [&] {
        for (std::size_t k = 0; k < row.size(); ++k)
            to[std::size_t(rows_.owner(row[k]))].push_back({row[k], col[k], val[k]});
    });
    const auto from = exchanged(ranks_, to);
    agree(&ranks_, [&] {
        for (int r = 0; r < ranks_.size(); ++r)
            for (const entry<V>& e : from[std::size_t(r)]) place(e, r);
    });
}

template <class V>
void row_filler<V>::place(const entry<V>& e, int sender) {
    const auto i = std::size_t(e.row - rows_.of(ranks_.rank()).first);
    if (left_[i] == 0) throw argument_error("a row has more entries than were counted");
    const auto at = std::size_t(ptr_[i + 1] - left_[i]--);
    own_.col_ind[at] = e.col, own_.val[at] = e.val;
    sender_[at] = std::uint16_t(sender);
}

template <class V>
matrix_slice<V> row_filler<V>::finish() {
    agree(&ranks_, [&] {
        if (std::ranges::any_of(left_, [](index n) { return n > 0; }))
            throw argument_error("a row has fewer entries than were counted");
        std::size_t kept = 0;
        for (std::size_t i = 0; i + 1 < ptr_.size(); ++i) {
            const auto begin = std::size_t(ptr_[i]), end = std::size_t(ptr_[i + 1]);
            sort_row(begin, end);
            const std::size_t row_begin = kept;
            ptr_[i] = offset(kept);
            for (std::size_t k = begin; k < end; ++k) {
                if (kept > row_begin && own_.col_ind[kept - 1] == own_.col_ind[k]) {
                    own_.val[kept - 1] += own_.val[k];
                } else {
                    own_.col_ind[kept] = own_.col_ind[k], own_.val[kept++] = own_.val[k];
                }
            }
        }
        ptr_.back() = offset(kept);
        sender_ = {};
        own_.col_ind.resize(kept), own_.val.resize(kept);
        own_.row_ptr = offset_vector(ptr_);
    });
    const shares cols =
        rows_.total() == own_.shape.cols ? rows_ : equal_shares(own_.shape.cols, ranks_.size());
    return {rows_, cols, std::move(own_)};
}

/// By column, then by sender; what one sender sent keeps its order.
template <class V>
void row_filler<V>::sort_row(std::size_t begin, std::size_t end) {
    struct placed {
        index col;
        std::uint16_t sender;
        V val;
    };
    const auto cols = std::span(own_.col_ind).subspan(begin, end - begin);
    if (std::ranges::adjacent_find(cols, std::greater_equal<>{}) == cols.end()) return;
    std::vector<placed> row;
    for (std::size_t k = begin; k < end; ++k)
        row.push_back({own_.col_ind[k], sender_[k], own_.val[k]});
    std::ranges::stable_sort(row, {}, [](const placed& p) { return std::pair(p.col, p.sender); });
    for (std::size_t k = begin; k < end; ++k)
        own_.col_ind[k] = row[k - begin].col, own_.val[k] = row[k - begin].val;
}

#define NZ_INSTANTIATE(V) template class row_filler<V>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
