// Collective errors: if one rank throws, all throw, so none waits for it.
#pragma once

#include <functional>

#include "nonzero/core/communicator.hpp"
#include "nonzero/core/error.hpp"

namespace nz {

/// A second base of every error that all ranks throw.
struct agreed_error {
    int rank = 0;  ///< where it happened; the first of several
};

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
