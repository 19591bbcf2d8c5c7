// The attempts at one system, and what each leaves for the next.
#pragma once

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/choices.hpp"

namespace nz {

template <class V, class B>
using preconditioner_maker = std::function<std::unique_ptr<linear_operator<V, B>>(const choice&)>;

/// A x = b as the attempts see it.
template <class V, class B>
struct attempted_system {
    csr<V, host_view> A;
    const linear_operator<V, B>& product;  ///< by A, where B computes
    std::span<const V> b;
    std::span<V> x;                        ///< the guess; the best x in the end
    preconditioner_maker<V, B> make = {};  ///< null for none; throws where A does not suit it
    steady_clock::time_point start = steady_clock::now();  ///< options.max_seconds counts from here
};

/// Tries one choice after the other, as `solve` says, and adds the attempts to the report. An
/// attempt that throws, or whose x is no number, huge or worse than the guess, changes nothing for
/// those after it. Throws what the last attempt threw where all did, and what the monitor throws.
template <class V, class B>
void attempt_all(B on, const attempted_system<V, B>&, std::vector<choice>, const system_options&,
                 system_report&);

}  // namespace nz
