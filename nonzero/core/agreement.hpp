// Values that all ranks learn of each, and collective errors: if one rank throws, all throw, so
// none waits for it.
#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include "nonzero/core/communicator.hpp"
#include "nonzero/core/error.hpp"

namespace nz {

/// Every rank's value, in rank order.
template <class T>
std::vector<T> gathered(const communicator& ranks, const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(std::size_t(ranks.size()));
    ranks.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
}

/// The sum over the ranks, added in rank order: the same bits on every rank, and in every run with
/// as many ranks.
template <class T>
T summed(const communicator& ranks, const T& mine) {
    T sum = {};
    for (const T& part : gathered(ranks, mine)) sum += part;
    return sum;
}

/// f() on every rank; where it throws on one, all throw: the error of the first such rank, by its
/// text and its type among those of error.hpp, which then derives from agreed_error as well. Null:
/// f() alone. f must not call the communicator.
void agree(const communicator* ranks, const std::function<void()>& f);

/// Throws argument_error on all ranks, naming two, unless every rank gives the same bits.
void expect_equal(const communicator* ranks, const std::string& what,
                  std::span<const double> numbers);

/// The ranks that the vectors of `on` are shared out over; null: none.
template <class B>
const communicator* ranks_of(B on) {
    if constexpr (requires { on.ranks; }) {
        return on.ranks;
    } else {
        return nullptr;
    }
}

/// The sum over the ranks, as `summed`; without ranks, the number itself.
template <class T>
T summed_over(const communicator* ranks, const T& mine) {
    return ranks == nullptr ? mine : summed(*ranks, mine);
}

/// Whether it holds on all ranks; without ranks, whether it holds.
bool on_all(const communicator* ranks, bool holds);

}  // namespace nz
