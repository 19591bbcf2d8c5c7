// Builds what a plan chose, and gives it new values.
#include <fmt/format.h>

#include <new>
#include <optional>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/matrix/with_transpose.hpp"
#include "nonzero/plan/planning.hpp"

namespace nz {

namespace {

/// attempt(method) for the chosen method, or the next that is smaller or does not refuse.
template <class V, class B, class F>
std::unique_ptr<linear_operator<V, B>> build_first(const plan<V, B>& p, F attempt) {
    std::exception_ptr last;
    double most_bytes = std::numeric_limits<double>::infinity();
    for (const candidate& c : p.candidates) {
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

/// Of a matrix whose values are as they are to be stored, as all that follow.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> build_as_stored(const plan<V, B>& p,
                                                       const csr<V, host_view>& A) {
    auto op = build_first(p, [&](const method<V>& m) { return m.template on<B>()(p.on, A); });
    if (p.of_transpose == nullptr) return op;
    const auto T = transpose(A);
    return with_transpose(p.on, std::move(op), build_as_stored(*p.of_transpose, view(T)));
}

template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_on_device(const plan<V, gpu>& p,
                                                         const csr<V, device_view>& A,
                                                         const device_analysis<V>& known) {
    check_planned(p, A);
    std::optional<csr<V, host>> here;
    return build_first(p, [&](const method<V>& m) {
        if (m.from_device != nullptr) return m.from_device(p.on, A, known);
        if (!here) here = download(p.on, A);
        return m.on_gpu(p.on, view(*here));
    });
}

template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_as_stored(const plan<V, gpu>& p,
                                                         const csr<V, device_view>& A) {
    auto op = build_on_device(p, A, {.checked = p.vouched});
    if (p.of_transpose == nullptr) return op;
    const auto T = transpose(p.on, A);
    return with_transpose(p.on, std::move(op),
                          build_on_device(*p.of_transpose, view(T), {.checked = p.vouched}));
}

}  // namespace

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> build(const plan<V, B>& p, const csr<V, host_view>& A) {
    check_planned(p, A);
    const thread_limit limit(p.on);
    return build_as_stored(p, stored_matrix(p.on, A, p.storage).view);
}

template <class V>
std::unique_ptr<linear_operator<V, gpu>> build(const plan<V, gpu>& p,
                                               const csr<V, device_view>& A) {
    check_planned(p, A);
    return build_as_stored(p, stored_matrix(p.on, A, p.storage).view);
}

template <class V>
planned<V> plan_and_build(const csr<V, device_view>& A, gpu on, const plan_options& o) {
    const stored_matrix stored(on, A, o.storage);
    plan_options plain = o;
    plain.transposed = false;
    const auto made = [&](const csr<V, device_view>& M) {
        device_analysis<V> known;
        planned<V> p{plan_on_device(M, on, plain, &known), nullptr};
        p.op = build_on_device(p.plan, M, known);
        return p;
    };
    auto all = made(stored.view);
    if (!o.transposed) return all;
    const auto T = transpose(on, stored.view);
    auto of_transpose = made(view(T));
    all.plan.of_transpose = std::make_shared<const plan<V, gpu>>(std::move(of_transpose.plan));
    all.op = with_transpose(on, std::move(all.op), std::move(of_transpose.op));
    return all;
}

namespace {

template <class V>
bool take(linear_operator<V, cpu>& op, cpu, const csr<V, host_view>& A) {
    return op.take_values(A);
}
template <class V>
bool take(linear_operator<V, gpu>& op, gpu on, const csr<V, host_view>& A) {
    const device_guard guard(on);
    return op.takes_values() && op.take_values(view(upload(on, A)));
}
template <class V>
bool take(linear_operator<V, gpu>& op, gpu, const csr<V, device_view>& A) {
    return op.take_values(A);
}

/// Frees what op holds before it is built anew, so that both need not fit the memory.
template <class V, class B, class S>
void take_or_build(std::unique_ptr<linear_operator<V, B>>& op, const plan<V, B>& p,
                   const csr<V, S>& A) {
    check_planned(p, A);
    const thread_limit limit(p.on);
    const stored_matrix stored(p.on, A, p.storage);
    if (op != nullptr && take(*op, p.on, stored.view)) return;
    op.reset();
    op = build_as_stored(p, stored.view);
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

#define NZ_FOR_BACKEND(V, B)                                                                \
    template std::unique_ptr<linear_operator<V, B>> build(const plan<V, B>&,                \
                                                          const csr<V, host_view>&);        \
    template void update_values(std::unique_ptr<linear_operator<V, B>>&, const plan<V, B>&, \
                                const csr<V, host_view>&);
#define NZ_INSTANTIATE(V)                                                                       \
    NZ_FOR_BACKEND(V, cpu)                                                                      \
    NZ_FOR_BACKEND(V, gpu)                                                                      \
    template std::unique_ptr<linear_operator<V, gpu>> build(const plan<V, gpu>&,                \
                                                            const csr<V, device_view>&);        \
    template planned<V> plan_and_build(const csr<V, device_view>&, gpu, const plan_options&);   \
    template void update_values(std::unique_ptr<linear_operator<V, gpu>>&, const plan<V, gpu>&, \
                                const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
