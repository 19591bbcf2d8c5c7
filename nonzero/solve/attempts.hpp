// The attempts at one system, and what each leaves for the next.
#pragma once

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/choices.hpp"

namespace nz {

/// Null for none; throws where A does not suit it. last: no attempt follows. told: takes what is
/// known of it.
template <class V, class B>
using preconditioner_maker = std::function<std::unique_ptr<linear_operator<V, B>>(
    const choice&, bool last, system_report::attempt& told)>;

/// A x = b as the attempts see it, vectors where B computes; over ranks, where everything is called
/// by all of them.
template <class V, class B>
struct attempted_system {
    const linear_operator<V, B>& product;  ///< by A, where B computes
    in<V, B> b;
    out<V, B> x;  ///< the guess; the best x in the end
    preconditioner_maker<V, B> make;
    /// | |A| |x| + |b| |, over |b|: times a unit of rounding, what b - A x may be wrong by. Asked
    /// for only where another attempt may follow.
    std::function<double(in<V, B> x)> rounding_scale;
    /// Orders anew what is left after the last probe, and after the first attempt that is none,
    /// which have failed.
    std::function<void(const choice& failed, std::vector<choice>& left)> reconsider =
        [](const choice&, auto&) {};
    steady_clock::time_point start = steady_clock::now();  ///< options.max_seconds counts from here
};

/// rounding_scale of a whole matrix.
template <class V>
double rounding_scale(const csr<V, host_view>& A, std::span<const V> b, std::span<const V> x);

/// Tries one choice after the other, as `solve` says, and adds the attempts to the report. An
/// attempt that throws, or whose x is no number, huge or worse than the guess, changes nothing for
/// those after it. Throws what the last attempt threw where all did, what the monitor throws, and,
/// over ranks, what not all of them throw.
template <class V, class B>
void attempt_all(B on, const attempted_system<V, B>&, std::vector<choice>, const system_options&,
                 system_report&);

}  // namespace nz
