// Functions that planning and building share.
#pragma once

#include <algorithm>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/storage/storage.hpp"
#include "nonzero/plan/subject.hpp"

namespace nz {

/// Throws argument_error, naming near ones, where neither the list nor the registry has it.
template <class V>
const method<V>& named(std::span<const method<V>> among, std::string_view name) {
    for (const method<V>& m : among)
        if (m.name == name) return m;
    return find_method<V>(name);
}

/// The plan for A, and for A^T where it is beside A, whose values are as they are to be stored.
template <class V, class M, class B>
plan<V, B> plan_subject(const subject<V, M>& A, B on, const plan_options&,
                        std::span<const method<V>> among);
/// Builds the choice of that plan, for the same A.
template <class V, class M, class B>
std::unique_ptr<linear_operator<V, B>> build_subject(const plan<V, B>& p, const subject<V, M>& A);

/// Plans for and builds from a matrix that is given away: its arrays are taken over where the
/// choice reads CSR as it is and is not timed, and left as they were otherwise. in_order: A, looked
/// at.
template <class V>
planned<V, cpu> plan_and_take(csr<V, host>& A, const ascending<V>& in_order, cpu on,
                              const plan_options&);

/// For what solvers build: the choice is predicted alone, so that their bits are those of every
/// run.
inline plan_options as_predicted(plan_options o) {
    o.accept = plan_options::acceptance::predicted;
    return o;
}

/// Whether a matrix in GPU memory is planned for there: else it comes to the CPU.
template <class V>
bool planned_on_device(const plan_options& o) {
    return !o.tune && std::ranges::all_of(o.methods, [](const auto& name) {
        return find_method<V>(name).from_device != nullptr;
    });
}

/// With A^T beside it, where that is wanted.
template <class V, class M, class B>
subject<V, M> subject_of(B on, const ascending<V, M>& A, bool transposed) {
    subject<V, M> found{A};
    if (transposed) found.transpose = subject_of_transpose(on, A);
    return found;
}

/// The work ahead that a plan by these options will most likely want. builds: the choice is built
/// at once.
template <class V>
work_ahead likely_wanted(const plan_options& o, bool builds) {
    if (o.expected_products != plan_options::many_products) return {};
    const auto packs = [](const auto& name) { return find_method<V>(name).packs; };
    const bool may_pack = o.methods.empty() || std::ranges::any_of(o.methods, packs);
    return {.pack = builds && may_pack,
            .hash = may_pack && o.accept == plan_options::acceptance::measured};
}

/// The subject of planning; on a GPU with its stats, where it is planned for there. A: of any
/// order, or known to be in order. builds: the choice is built at once.
template <class V, class B>
subject<V, cpu> subject_for(B on, const ascending<V>& A, const plan_options& o, bool = false) {
    return subject_of(on, A, o.transposed);
}
template <class Matrix, class V = typename Matrix::value>
requires(!std::is_same_v<Matrix, ascending<V, cpu>>) subject<V, gpu> subject_for(
    gpu on, const Matrix& A, const plan_options& o, bool builds = false) {
    require_gpu(on);
    const auto look = [&](const auto& M, auto... of_transpose) -> subject<V, gpu> {
        if constexpr (!is_complex<V>)
            if (planned_on_device<V>(o))
                return looked_at(on, M, likely_wanted<V>(o, builds), std::move(of_transpose)...);
        return {in_order(on, M)};
    };
    auto found = look(A);
    if (o.transposed)
        found.transpose =
            std::make_shared<const subject<V, gpu>>(look(transposed(on, found.A), found.packing));
    return found;
}

/// The same matrix in the CPU's memory.
template <class V>
ascending<V> on_host(gpu on, const ascending<V, gpu>& A) {
    auto here = download(on, A.given());
    return A.given_in_order() ? ascending<V>::known(std::move(here))
                              : ascending<V>(std::move(here));
}

/// A with its values as they are stored.
template <class V, class M>
struct stored_in_order {
    template <class B>
    stored_in_order(B on, const ascending<V, M>& given, value_storage how)
        : rounded(stored_values(on, given.given().val, how)),
          A(rounded.size() > 0 ? given.with_values(rounded, at(on, given)) : given) {}
    array<V, std::conditional_t<std::is_same_v<M, cpu>, host, device>> rounded;
    ascending<V, M> A;
};
template <class V, class M, class B>
stored_in_order(B, const ascending<V, M>&, value_storage) -> stored_in_order<V, M>;

}  // namespace nz
