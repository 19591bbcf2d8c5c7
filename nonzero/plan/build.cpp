// Builds what a plan chose, and gives it new values.
#include <fmt/core.h>

#include <new>
#include <optional>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/adopted_csr.hpp"
#include "nonzero/matrix/with_transpose.hpp"
#include "nonzero/plan/acceptance.hpp"
#include "nonzero/plan/planning.hpp"

namespace nz {

namespace {

/// attempt(method) for the chosen method, or the next that is smaller or does not refuse.
template <class V, class B, class F>
std::unique_ptr<linear_operator<V, B>> build_first(const plan<V, B>& p, F attempt) {
    std::exception_ptr last;
    double most_bytes = std::numeric_limits<double>::infinity();
    for (const plan_report::candidate& c : p.candidates) {
        if (!c.declined.empty() || c.matrix_bytes >= most_bytes) continue;
        try {
            return attempt(named(p.among, c.method));
        } catch (const std::bad_alloc&) {
            last = std::current_exception(), most_bytes = c.matrix_bytes;
        } catch (const device_error&) {
            last = std::current_exception(), most_bytes = c.matrix_bytes;
        } catch (const argument_error&) {
            last = std::current_exception();  // the builder refuses this matrix
        }
    }
    std::rethrow_exception(last);
}

template <class V, class B, class S>
void check_planned(const plan<V, B>& p, const csr<V, S>& A) {
    if (p.empty()) throw argument_error("build: the plan is empty");
    check_sizes(A);
    if (A.shape != p.shape || std::int64_t(A.val.size()) != p.nnz)
        throw argument_error(fmt::format(
            "build: the plan is for {} x {} with {} entries, the matrix is {} x {} with {}",
            p.shape.rows, p.shape.cols, p.nnz, A.shape.rows, A.shape.cols, A.val.size()));
}

template <class V>
std::unique_ptr<linear_operator<V, cpu>> build_alone(const plan<V, cpu>& p,
                                                     const subject<V, cpu>& M) {
    if (M.given_away != nullptr && p.timing.beside.empty())
        if (auto op = adopted_csr(p.on, p.chosen().method, *M.given_away)) return op;
    auto op = build_first(p, [&](const method<V>& m) { return nz::build(m, p.on, M.A); });
    return accepted(p, M.A, std::move(op));
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_alone(const plan<V, gpu>& p,
                                                     const subject<V, gpu>& M) {
    std::optional<ascending<V>> here;
    auto op = build_first(p, [&](const method<V>& m) {
        if (m.from_device != nullptr) return nz::build(m, p.on, M.A, M.packing.get());
        if (!here) here = on_host(p.on, M.A);
        return nz::build(m, p.on, *here);
    });
    return accepted(p, M.A, std::move(op));
}

/// A in the GPU's memory, where two methods are built from it; nothing where there is no room.
template <class V>
std::optional<ascending<V, gpu>> uploaded_to_time(const plan<V, gpu>& p, const ascending<V>& A) {
    if (p.timing.beside.empty()) return {};
    try {
        auto there = upload(p.on, A.given());
        return A.given_in_order() ? ascending<V, gpu>::known(std::move(there), p.on)
                                  : ascending<V, gpu>(std::move(there), p.on);
    } catch (const device_error&) {
        return {};
    }
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_alone(const plan<V, gpu>& p,
                                                     const subject<V, cpu>& M) {
    auto there = uploaded_to_time(p, M.A);
    auto op = build_first(p, [&](const method<V>& m) {
        if (there && m.from_device != nullptr) try {
                return nz::build(m, p.on, *there);
            } catch (const device_error&) {  // without what was uploaded it may fit
                there.reset();
            }
        return nz::build(m, p.on, M.A);
    });
    return there ? accepted(p, *there, std::move(op)) : std::move(op);
}

/// The subject of building, after the one check of the matrix: by the analysis for packing, where
/// the method chosen wants that anyway.
template <class V, class B>
subject<V, cpu> subject_for(const plan<V, B>& p, const csr<V, host_view>& A) {
    return subject_of(p.on, ascending(A), p.of_transpose != nullptr);
}
template <class V>
subject<V, gpu> subject_for(const plan<V, gpu>& p, const csr<V, device_view>& A) {
    require_gpu(p.on);
    if constexpr (!is_complex<V>)
        if (named(p.among, p.chosen().method).packs) try {
                auto packing = analyse_for_packing(p.on, A, [] {});
                auto found =
                    subject_of(p.on, ascending<V, gpu>::known(A, p.on), p.of_transpose != nullptr);
                found.packing = std::move(packing);
                return found;
            } catch (const error&) {  // no CSR, in another order, or short of memory
            }
    return subject_of(p.on, ascending<V, gpu>(A, p.on), p.of_transpose != nullptr);
}

}  // namespace

template <class V, class M, class B>
std::unique_ptr<linear_operator<V, B>> build_subject(const plan<V, B>& p, const subject<V, M>& A) {
    auto op = build_alone(p, A);
    if (p.of_transpose == nullptr) return op;
    return with_transpose(p.on, std::move(op), build_alone(*p.of_transpose, *A.transpose));
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> build(const plan<V, B>& p, const csr<V, host_view>& A) {
    check_planned(p, A);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const thread_limit limit(p.on);
        const stored_matrix stored(p.on, A, p.storage);
        return build_subject(p, subject_for(p, stored.view));
    }
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> build(const plan<V, gpu>& p,
                                               const csr<V, device_view>& A) {
    check_planned(p, A);
    if constexpr (!is_built<gpu>) {
        refuse_gpu();
    } else {
        const stored_matrix stored(p.on, A, p.storage);
        return build_subject(p, subject_for(p, stored.view));
    }
}
template <class V, class M, class B>
std::unique_ptr<linear_operator<V, B>> build(const plan<V, B>& p, const ascending<V, M>& A) {
    check_planned(p, A.given());
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const thread_limit limit(p.on);
        const stored_in_order stored(p.on, A, p.storage);
        return build_subject(p, subject_of(p.on, stored.A, p.of_transpose != nullptr));
    }
}

namespace {

template <class V, class M, class B>
planned<V, B> planned_and_built(const subject<V, M>& A, B on, const plan_options& o) {
    auto p = plan_subject(A, on, o, methods<V>());
    auto op = build_subject(p, A);
    return {std::move(p), std::move(op)};
}

}  // namespace

template <class V, class B>
planned<V, B> plan_and_build(const csr<V, host_view>& A, B on, const plan_options& o) {
    if constexpr (!is_built<B>) {
        return {make_plan(A, on, o), nullptr};  // checks all, and refuses
    } else {
        const thread_limit limit(on);
        const stored_matrix stored(on, A, o.storage);
        return planned_and_built(subject_of(on, ascending(stored.view), o.transposed), on, o);
    }
}
template <class V>
planned<V, cpu> plan_and_take(csr<V, host>& A, const ascending<V>& in_order, cpu on,
                              const plan_options& o) {
    const thread_limit limit(on);
    const stored_in_order stored(on, in_order, o.storage);
    auto whole = subject_of(on, stored.A, o.transposed);
    if (o.storage == value_storage::exact) whole.given_away = &A;
    return planned_and_built(whole, on, o);
}
template <class V>
planned<V, cpu> plan_and_build(csr<V, host>&& A, cpu on, const plan_options& o) {
    const thread_limit limit(on);
    return plan_and_take(A, ascending(view(A)), on, o);
}
template <class V>
planned<V> plan_and_build(const csr<V, device_view>& A, gpu on, const plan_options& o) {
    if constexpr (!is_built<gpu>) {
        refuse_gpu();
    } else {
        const stored_matrix stored(on, A, o.storage);
        return planned_and_built(nz::subject_for(on, stored.view, o, true), on, o);
    }
}
template <class V, class M, class B>
planned<V, B> plan_and_build(const ascending<V, M>& A, B on, const plan_options& o) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const thread_limit limit(on);
        const stored_in_order stored(on, A, o.storage);
        return planned_and_built(nz::subject_for(on, stored.A, as_predicted(o), true), on,
                                 as_predicted(o));
    }
}

namespace {

template <class V>
bool take(linear_operator<V, cpu>& op, const plan<V, cpu>&, const csr<V, host_view>& A) {
    return op.take_values(A);
}
/// Not where rows that do not ascend may meet a packed layout: it cannot tell, and building puts
/// them in order.
template <class V>
bool take(linear_operator<V, gpu>& op, const plan<V, gpu>& p, const csr<V, device_view>& A) try {
    if (!op.takes_values()) return false;
    const bool may_pack = p.of_transpose != nullptr || !find_method<V>(op.method_name()).any_order;
    if (may_pack && !ascending<V, gpu>(A, p.on).given_in_order()) return false;
    return op.take_values(A);
} catch (const argument_error&) {
    return false;  // no CSR: building says why
}
template <class V>
bool take(linear_operator<V, gpu>& op, const plan<V, gpu>& p, const csr<V, host_view>& A) {
    const device_guard guard(p.on);
    return op.takes_values() && take(op, p, view(upload(p.on, A)));
}

/// Frees what op holds before it is built anew, so that both need not fit the memory.
template <class V, class B, class S>
void take_or_build(std::unique_ptr<linear_operator<V, B>>& op, const plan<V, B>& p,
                   const csr<V, S>& A) {
    check_planned(p, A);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const thread_limit limit(p.on);
        const stored_matrix stored(p.on, A, p.storage);
        if (op != nullptr && take(*op, p, stored.view)) return;
        op.reset();
        op = build_subject(p, subject_for(p, stored.view));
    }
}

}  // namespace

template <class V, class B>
void update_values(std::unique_ptr<linear_operator<V, B>>& op, const plan<V, B>& p,
                   const csr<V, host_view>& A) {
    take_or_build(op, p, A);
}
template <class V>
void update_values(std::unique_ptr<linear_operator<V, gpu>>& op, const plan<V, gpu>& p,
                   const csr<V, device_view>& A) {
    take_or_build(op, p, A);
}

#define NZ_FOR_SUBJECT(V, M, B)                                                      \
    template std::unique_ptr<linear_operator<V, B>> build_subject(const plan<V, B>&, \
                                                                  const subject<V, M>&);
#define NZ_FOR_PLACE(V, M, B)                                                      \
    template std::unique_ptr<linear_operator<V, B>> build(const plan<V, B>&,       \
                                                          const ascending<V, M>&); \
    template planned<V, B> plan_and_build(const ascending<V, M>&, B, const plan_options&);
#define NZ_FOR_BACKEND(V, B)                                                                 \
    NZ_FOR_PLACE(V, cpu, B)                                                                  \
    template std::unique_ptr<linear_operator<V, B>> build(const plan<V, B>&,                 \
                                                          const csr<V, host_view>&);         \
    template planned<V, B> plan_and_build(const csr<V, host_view>&, B, const plan_options&); \
    template void update_values(std::unique_ptr<linear_operator<V, B>>&, const plan<V, B>&,  \
                                const csr<V, host_view>&);
#define NZ_INSTANTIATE(V)                                                                       \
    NZ_FOR_SUBJECT(V, cpu, cpu)                                                                 \
    NZ_WITH_CUDA_ONLY(NZ_FOR_SUBJECT(V, cpu, gpu) NZ_FOR_SUBJECT(V, gpu, gpu))                  \
    NZ_FOR_BACKEND(V, cpu)                                                                      \
    NZ_FOR_BACKEND(V, gpu)                                                                      \
    NZ_FOR_PLACE(V, gpu, gpu)                                                                   \
    template std::unique_ptr<linear_operator<V, gpu>> build(const plan<V, gpu>&,                \
                                                            const csr<V, device_view>&);        \
    template planned<V> plan_and_build(const csr<V, device_view>&, gpu, const plan_options&);   \
    template planned<V, cpu> plan_and_take(csr<V, host>&, const ascending<V>&, cpu,             \
                                           const plan_options&);                                \
    template planned<V, cpu> plan_and_build(csr<V, host>&&, cpu, const plan_options&);          \
    template void update_values(std::unique_ptr<linear_operator<V, gpu>>&, const plan<V, gpu>&, \
                                const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
