// Operators: of a plan or multigrid; their products.
#include "c/handles.hpp"
#include "c/options.hpp"

namespace nz::c {
namespace {

struct planning : plan_options {
    int threads = 0;
};
constexpr std::string_view storage_names[] = {"exact", "single"};
constexpr std::string_view acceptance_names[] = {"measured", "predicted"};
constexpr key<planning> plan_keys[] = {
    plain<&planning::threads, planning>("threads"),
    plain<&planning::tune, planning>("tune"),
    plain<&planning::fresh, planning>("fresh"),
    plain<&planning::expected_products, planning>("expected-products"),
    plain<&planning::vectors, planning>("vectors"),
    named<&planning::storage, storage_names, planning>("storage"),
    named<&planning::accept, acceptance_names, planning>("accept"),
    plain<&planning::transposed, planning>("transposed"),
    plain<&planning::deterministic, planning>("deterministic"),
    plain<&planning::methods, planning>("methods"),
};

struct multigrid : amg_options {
    int threads = 0;
};
constexpr std::string_view cycle_names[] = {"v", "w"};
constexpr std::string_view smoother_names[] = {"chebyshev", "l1-jacobi"};
constexpr key<multigrid> amg_keys[] = {
    plain<&multigrid::threads, multigrid>("threads"),
    named<&multigrid::cycle, cycle_names, multigrid>("cycle"),
    named<&multigrid::smoother, smoother_names, multigrid>("smoother"),
    plain<&multigrid::degree, multigrid>("degree"),
    plain<&multigrid::sweeps, multigrid>("sweeps"),
    plain<&multigrid::eigenvalue_ratio, multigrid>("eigenvalue-ratio"),
    plain<&multigrid::aggregation_distance, multigrid>("aggregation-distance"),
    plain<&multigrid::strength, multigrid>("strength"),
    plain<&multigrid::omega, multigrid>("omega"),
    plain<&multigrid::block, multigrid>("block"),
    plain<&multigrid::coarse_rows, multigrid>("coarse-rows"),
    plain<&multigrid::max_levels, multigrid>("max-levels"),
    plain<&multigrid::adaptive_candidates, multigrid>("adaptive-candidates"),
    plain<&multigrid::relaxations, multigrid>("relaxations"),
    plain<&multigrid::lanczos_iterations, multigrid>("lanczos-iterations"),
    named<&multigrid::precision, storage_names, multigrid>("precision"),
    plain<&multigrid::check, multigrid>("check"),
    plain<&multigrid::keep, multigrid>("keep"),
};

/// True where a matrix in space S can be given to backend B.
template <class S, class B>
constexpr bool can_reach = std::is_same_v<S, host_view> || std::is_same_v<B, gpu>;

/// The operator that make(on, view) returns for the matrix, on the device.
template <class F>
std::unique_ptr<nz_operator> operator_of(const nz_matrix& A, int device, void* stream, int threads,
                                         F make) {
    expect_reachable(A, device);
    auto op = std::make_unique<nz_operator>();
    with_device(device, stream, threads, [&]<class B>(B on) {
        std::visit(
            [&]<class V, class S>(const csr<V, S>& view) {
                if constexpr (can_reach<S, B>) op->held = make(on, view);
            },
            A.view);
    });
    return op;
}

/// candidates of A's rows from the caller's array.
template <class V>
candidates<V> near_of(const void* near, std::int64_t length, index rows) {
    const auto all = input<V, cpu>(near, length, "near");
    if (all.empty()) return {};
    return {rows == 0 ? 0 : index(length / rows), {all.begin(), all.end()}};
}

template <class V, class B, class S>
typed_operator<V, B> multigrid_of(B on, const csr<V, S>& A, const multigrid& o, const void* near,
                                  std::int64_t near_length) {
    const auto candidates = near_of<V>(near, near_length, A.shape.rows);
    return {on, {}, std::make_unique<amg<V, B>>(A, on, o, candidates)};
}

std::string text_of(const nz_operator& op) {
    return std::visit(
        []<class V, class B>(const typed_operator<V, B>& own) {
            if (const auto* const M = dynamic_cast<const amg<V, B>*>(own.op.get()))
                return to_text(M->report());
            return to_text(own.plan);
        },
        op.held);
}

/// Takes the values of A, which lies in CPU memory or in that of the GPU.
template <class V, class B, class S>
void update(typed_operator<V, B>& own, const csr<V, S>& A) {
    if constexpr (can_reach<S, B>) {
        if (auto* const M = dynamic_cast<amg<V, B>*>(own.op.get())) return M->take_values(A);
        update_values(own.op, own.plan, A);
    }
}

transposition transposition_of(int op) {
    if (op < NZ_PLAIN || op > NZ_CONJUGATE_TRANSPOSE)
        throw argument_error(
            fmt::format("op is {}, expected NZ_PLAIN, NZ_TRANSPOSE or NZ_CONJUGATE_TRANSPOSE", op));
    return transposition(op - NZ_PLAIN);
}
storage_order order_of_columns(int order, const char* name) {
    if (order != NZ_COLUMN_MAJOR && order != NZ_ROW_MAJOR)
        throw argument_error(
            fmt::format("{} is {}, expected NZ_COLUMN_MAJOR or NZ_ROW_MAJOR", name, order));
    return order == NZ_ROW_MAJOR ? storage_order::row_major : storage_order::column_major;
}
std::size_t stride_of(std::int64_t stride, const char* name) {
    if (stride < 0) throw argument_error(fmt::format("{} is {}", name, stride));
    return std::size_t(stride);
}

}  // namespace
}  // namespace nz::c

using namespace nz::c;

int nz_plan(const nz_matrix* A, int device, void* stream, const char* options, nz_operator** op) {
    return made(op, "op", [&] {
        const nz_matrix& matrix = checked(A, "A");
        planning o;
        take_options<planning>(options, plan_keys, o);
        return operator_of(matrix, device, stream, o.threads,
                           [&]<class V, class B, class S>(B on, const nz::csr<V, S>& view) {
                               auto [p, built] = plan_and_build(view, on, o);
                               return typed_operator<V, B>{on, std::move(p), std::move(built)};
                           });
    });
}

int nz_amg(const nz_matrix* A, int device, void* stream, const void* near, int64_t near_length,
           const char* options, nz_operator** M) {
    return made(M, "M", [&] {
        const nz_matrix& matrix = checked(A, "A");
        multigrid o;
        take_options<multigrid>(options, amg_keys, o);
        return operator_of(matrix, device, stream, o.threads,
                           [&]<class V, class B, class S>(B on, const nz::csr<V, S>& view) {
                               return multigrid_of<V, B>(on, view, o, near, near_length);
                           });
    });
}

int nz_operator_info(const nz_operator* op, int32_t* rows, int32_t* cols, int* type, int* device,
                     int64_t* bytes) {
    return guarded([&] {
        std::visit(
            [&]<class V, class B>(const typed_operator<V, B>& own) {
                const auto& built = built_of(own);
                const nz::shape shape = built.shape();
                tell(rows, shape.rows), tell(cols, shape.cols), tell(type, type_of<V>);
                tell(device, device_of(own.on)), tell(bytes, std::int64_t(built.bytes()));
            },
            checked(op, "op").held);
        return NZ_OK;
    });
}

int nz_operator_text(const nz_operator* op, char* text, int64_t capacity, int64_t* length) {
    return guarded([&] {
        const std::string whole = text_of(checked(op, "op"));
        const auto to = output<char, nz::cpu>(text, capacity, "text");
        tell(length, std::int64_t(whole.size()));
        if (!to.empty()) to[whole.copy(to.data(), to.size() - 1)] = '\0';
        return NZ_OK;
    });
}

int nz_operator_update(nz_operator* op, const nz_matrix* A) {
    return guarded([&] {
        nz_operator& changed = checked(op, "op");
        const nz_matrix& matrix = checked(A, "A");
        std::visit(
            [&]<class V, class B>(typed_operator<V, B>& own) {
                expect_reachable(matrix, device_of(own.on));
                std::visit(
                    [&]<class W, class S>(const nz::csr<W, S>& view) {
                        expect_type<V>(type_of<W>);
                        if constexpr (std::is_same_v<V, W>) update(own, view);
                    },
                    matrix.view);
            },
            changed.held);
        return NZ_OK;
    });
}

int nz_operator_destroy(nz_operator* op) { return destroyed(op, "op"); }

int nz_apply(const nz_operator* A, int op, int type, const void* alpha, const void* x,
             int64_t x_length, const void* beta, void* y, int64_t y_length) {
    return guarded([&] {
        const nz::transposition how = transposition_of(op);
        std::visit(
            [&]<class V, class B>(const typed_operator<V, B>& own) {
                expect_type<V>(type);
                const auto from = input<V, B>(x, x_length, "x");
                const auto to = output<V, B>(y, y_length, "y");
                const V a = scalar<V>(alpha, "alpha"), b = scalar<V>(beta, "beta");
                if (how == nz::transposition::plain)
                    built_of(own).apply(a, from, b, to);
                else
                    built_of(own).apply_transposed(how, a, from, b, to);
            },
            checked(A, "A").held);
        return NZ_OK;
    });
}

int nz_apply_many(const nz_operator* A, int type, int32_t count, const void* alpha, const void* X,
                  int64_t X_length, int64_t X_stride, int X_order, const void* beta, void* Y,
                  int64_t Y_length, int64_t Y_stride, int Y_order) {
    return guarded([&] {
        std::visit(
            [&]<class V, class B>(const typed_operator<V, B>& own) {
                expect_type<V>(type);
                const nz::in_columns<V, B> from{input<V, B>(X, X_length, "X"),
                                                stride_of(X_stride, "X_stride"), count,
                                                order_of_columns(X_order, "X_order")};
                const nz::out_columns<V, B> to{output<V, B>(Y, Y_length, "Y"),
                                               stride_of(Y_stride, "Y_stride"), count,
                                               order_of_columns(Y_order, "Y_order")};
                built_of(own).apply_many(scalar<V>(alpha, "alpha"), from, scalar<V>(beta, "beta"),
                                         to);
            },
            checked(A, "A").held);
        return NZ_OK;
    });
}
