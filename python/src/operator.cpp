#include "python/src/operator.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <shared_mutex>

#include "nonzero/core/error.hpp"
#include "nonzero/formats/columns.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "nonzero/plan/storage/storage.hpp"
#include "python/src/module.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;

template <class V>
V scalar(nb::handle from, const char* name) {
    if (PyFloat_CheckExact(from.ptr())) return V(real<V>(PyFloat_AsDouble(from.ptr())));
    // complex(from), but not of text; what PyComplex_AsCComplex does is not in the stable ABI.
    nb::object c;
    if (!PyUnicode_Check(from.ptr()))
        c = nb::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyComplex_Type),
                                                   from.ptr(), nullptr));
    if (!c.is_valid()) {
        PyErr_Clear();
        throw nb::type_error(fmt::format("{}: a {}, expected a number", name,
                                         nb::cast<std::string>(from.type().attr("__name__")))
                                 .c_str());
    }
    const double re = PyComplex_RealAsDouble(c.ptr()), im = PyComplex_ImagAsDouble(c.ptr());
    if constexpr (is_complex<V>) {
        return {real<V>(re), real<V>(im)};
    } else {
        if (im != 0)
            throw nb::type_error(
                (std::string(name) + ": complex, expected a real number, as the values are real")
                    .c_str());
        return V(re);
    }
}

/// The columns of an array in GPU memory, which must be contiguous: each of them, or, where rows
/// will do, each row.
template <class Columns, class V>
Columns device_columns(const array& a, bool rows_will_do) {
    using enum storage_order;
    const bool by_column = lies_by(column_major, a);
    if (!by_column && !(rows_will_do && lies_by(row_major, a)))
        throw nb::value_error((std::string(a.name()) + ": expected contiguous columns (order='F')" +
                               (rows_will_do ? " or rows" : "") + " on a GPU")
                                  .c_str());
    return columns_of<Columns>(a, a.data<V>(), by_column ? column_major : row_major);
}

template <class X, class Y>
bool overlap(const X& x, const Y& y) {
    const auto *const x0 = x.values.data(), *const x1 = x0 + x.values.size();
    const auto *const y0 = y.values.data(), *const y1 = y0 + y.values.size();
    return x0 != x1 && y0 != y1 && std::less<>()(x0, y1) && std::less<>()(y0, x1);
}
/// Throws ValueError where columns that are written share memory with columns that are read.
template <class X, class Y>
void expect_apart(const X& x, const Y& y) {
    if (overlap(x, y)) throw nb::value_error("out: overlaps with x, expected memory of its own");
}

template <class V, class B>
class typed_operator final : public any_operator {
  public:
    /// An operator that has been planned.
    typed_operator(B on, plan<V, B> p, std::unique_ptr<linear_operator<V, B>> op,
                   plan_options options)
        : on_(on),
          plan_(std::move(p)),
          shape_(op->shape()),
          op_(shared(std::move(op))),
          options_(std::move(options)) {
        // The plan reports what multiplies, where building took another method than the first.
        const std::string_view built = op_->get()->method_name();
        if (plan_->chosen().method == built) return;
        plan_->why = std::string(built) + " was built in place of " + plan_->chosen().method +
                     ": it is faster when both are timed, or takes less memory";
        plan_->put_first(built);
    }
    /// One that has not.
    typed_operator(B on, std::unique_ptr<linear_operator<V, B>> op)
        : on_(on), shape_(op->shape()), op_(shared(std::move(op))) {}

    void apply(transposition op, nb::handle x_, nb::handle y_, nb::handle alpha_, nb::handle beta_,
               std::uintptr_t stream) const override {
        const array x(x_, "x"), y(y_, "out", true);
        const V alpha = alpha_.is_none() ? V(1) : scalar<V>(alpha_, "alpha");
        const V beta = beta_.is_none() ? V(0) : scalar<V>(beta_, "beta");
        const nz::shape A = shape();
        const bool plain = op == transposition::plain;
        const index rows = plain ? A.rows : A.cols, cols = plain ? A.cols : A.rows;
        const bool one = x.dimensions() == 1;
        const bool rows_will_do = plain && !one;
        for (const array* a : {&x, &y}) {
            a->expect_device(device());
            a->expect_type(type());
        }
        x.expect_shape(cols, one ? -1 : x.length(1));
        y.expect_shape(rows, one ? -1 : x.length(1));
        const nb::gil_scoped_release others_run;
        const std::shared_lock held(replacing_);
        if constexpr (std::is_same_v<B, cpu>) {
            borrowed_columns<V> X(x, rows_will_do), Y(y, rows_will_do);
            // Rows of two matrices may alternate in one array.
            if ((X.all().by_row() || Y.all().by_row()) && overlap(X.all(), Y.all())) X.copy();
            expect_apart(X.all(), Y.all());
            multiply(op, one, alpha, X.all(), beta, Y.all());
            Y.write_back();
        } else {
            const in_stream_of_caller s(
                on_, {.device = on_.device, .stream = reinterpret_cast<void*>(stream)});
            const auto X = device_columns<in_columns<V, gpu>, V>(x, rows_will_do);
            const auto Y = device_columns<out_columns<V, gpu>, V>(y, rows_will_do);
            expect_apart(X, Y);
            multiply(op, one, alpha, X, beta, Y);
        }
    }

    void apply_at(std::uintptr_t x, std::uintptr_t y, std::uintptr_t stream) const override {
        if constexpr (std::is_same_v<B, gpu>) {
            const nb::gil_scoped_release others_run;
            const std::shared_lock held(replacing_);
            const in_stream_of_caller s(
                on_, {.device = on_.device, .stream = reinterpret_cast<void*>(stream)});
            current().apply(V(1), {reinterpret_cast<const V*>(x), std::size_t(shape_.cols)}, V(0),
                            {reinterpret_cast<V*>(y), std::size_t(shape_.rows)});
        } else {
            throw nb::value_error("this operator is on the CPU");
        }
    }

    [[nodiscard]] const plan_report& report() const override {
        if (!plan_) throw nb::value_error("this operator is of no plan");
        return *plan_;
    }

    void update_values(nb::handle indptr, nb::handle indices, nb::handle data,
                       std::uintptr_t stream) override {
        if (!plan_) throw nb::value_error("this operator is of no plan: its values stay");
        with_matrix(indptr, indices, data, stream, [&](const auto& A) {
            // A solver that multiplies by the old values keeps them.
            if (op_.use_count() > 1) {
                op_ = shared(build(*plan_, A));
                return;
            }
            std::atomic_thread_fence(std::memory_order_acquire);  // after the last user's products
            nz::update_values(*op_, *plan_, A);
        });
    }

    void store_transpose(nb::handle indptr, nb::handle indices, nb::handle data,
                         std::uintptr_t stream) override {
        with_matrix(indptr, indices, data, stream, [&](const auto& A) {
            if (options_.transposed) return;
            options_.transposed = true;
            plan_options of_transpose = options_;
            of_transpose.transposed = false;
            plan<V, B> both = *plan_;  // the choice for A stays
            try {
                const auto T = transposed(A);
                both.of_transpose =
                    std::make_shared<const plan<V, B>>(make_plan(view(T), on_, of_transpose));
                op_ = shared(build(both, A));
            } catch (const unavailable&) {
                return;  // no method suits A^T: the products with A transposed remain
            } catch (...) {
                options_.transposed = false;
                throw;
            }
            *plan_ = std::move(both);
        });
    }

    [[nodiscard]] nz::shape shape() const override { return shape_; }
    [[nodiscard]] std::size_t bytes() const override { return op()->bytes(); }
    [[nodiscard]] char type() const override { return type_code<V>(); }
    [[nodiscard]] int device() const override {
        if constexpr (std::is_same_v<B, gpu>) return on_.device;
        return -1;
    }
    /// As it is now. What replaces it waits for no one who holds it. Without the GIL where another
    /// thread may be replacing it, as that one may wait for the GIL.
    [[nodiscard]] std::shared_ptr<const linear_operator<V, B>> op() const {
        const nb::gil_scoped_release others_run;
        const std::shared_lock held(replacing_);
        return {op_, &current()};
    }

  private:
    using owner = std::unique_ptr<linear_operator<V, B>>;
    static std::shared_ptr<owner> shared(owner op) {
        return std::make_shared<owner>(std::move(op));
    }
    const linear_operator<V, B>& current() const {
        if (*op_ == nullptr)
            throw out_of_memory("the operator is lost: memory ran out as its values were replaced");
        return **op_;
    }

    template <class X, class Y>
    void multiply(transposition op, bool one, V alpha, X x, V beta, Y y) const {
        const nz::shape A = shape();
        const linear_operator<V, B>& own = current();
        const bool plain = op == transposition::plain;
        const auto rows = std::size_t(plain ? A.rows : A.cols);
        const auto cols = std::size_t(plain ? A.cols : A.rows);
        if (plain && !one) return own.apply_many(alpha, as_input(x), beta, y);
        for (index c = 0; c < x.count; ++c) {
            const auto from = column(as_input(x), c, cols);
            const auto to = column(y, c, rows);
            plain ? own.apply(alpha, from, beta, to)
                  : own.apply_transposed(op, alpha, from, beta, to);
        }
    }
    auto transposed(const csr<V, host_view>& A) const { return transpose(A); }
    auto transposed(const csr<V, device_view>& A) const { return transpose(on_, A); }
    static in_columns<V, B> as_input(const auto& x) {
        return {x.values, x.stride, x.count, x.order};
    }

    /// f(A), without the GIL and while no product runs; A lies where its arrays do.
    template <class F>
    void with_matrix(nb::handle indptr_, nb::handle indices_, nb::handle data_,
                     std::uintptr_t stream, F f) {
        const array indptr(indptr_, "indptr"), indices(indices_, "indices"), data(data_, "data");
        const auto run = [&](const auto& A) {
            const nb::gil_scoped_release others_run;
            const std::unique_lock alone(replacing_);
            if constexpr (std::is_same_v<B, gpu>) {
                const in_stream_of_caller s(
                    on_, {.device = on_.device, .stream = reinterpret_cast<void*>(stream)});
                f(A.view());
            } else {
                f(A.view());
            }
        };
        if constexpr (std::is_same_v<B, gpu>)
            if (data.device() >= 0)
                return run(borrowed_csr<V, device_view>(shape(), indptr, indices, data));
        run(borrowed_csr<V, host_view>(shape(), indptr, indices, data));
    }

    B on_;
    std::optional<plan<V, B>> plan_;
    nz::shape shape_;
    std::shared_ptr<owner> op_;  ///< shared with the solvers that run
    plan_options options_;
    mutable std::shared_mutex replacing_;  ///< op_, or its values, while products use it
};

template <class V>
std::unique_ptr<any_operator> planned_on_cpu(nz::shape shape, const array& indptr,
                                             const array& indices, const array& data, int threads,
                                             const plan_options& options) {
    const borrowed_csr<V, host_view> A(shape, indptr, indices, data);
    const nb::gil_scoped_release others_run;
    const cpu on{.threads = threads};
    auto [p, op] = plan_and_build(A.view(), on, options);
    return std::make_unique<typed_operator<V, cpu>>(on, std::move(p), std::move(op), options);
}

/// From arrays in GPU memory as they lie, from the host's by a copy.
template <class V>
std::unique_ptr<any_operator> planned_on_gpu(nz::shape shape, const array& indptr,
                                             const array& indices, const array& data, gpu on,
                                             std::uintptr_t stream, const plan_options& options) {
    require_gpu(on);
    const auto made = [&](auto&& A) {
        const nb::gil_scoped_release others_run;
        const in_stream_of_caller s(
            on, {.device = on.device, .stream = reinterpret_cast<void*>(stream)});
        auto [p, op] = plan_and_build(A.view(), on, options);
        return std::make_unique<typed_operator<V, gpu>>(on, std::move(p), std::move(op), options);
    };
    if (data.device() >= 0) return made(borrowed_csr<V, device_view>(shape, indptr, indices, data));
    return made(borrowed_csr<V, host_view>(shape, indptr, indices, data));
}

std::unique_ptr<any_operator> make_operator(std::tuple<std::int64_t, std::int64_t> shape_,
                                            nb::handle indptr_, nb::handle indices_,
                                            nb::handle data_, int device, std::uintptr_t stream,
                                            int threads, const plan_options& options) {
    const array indptr(indptr_, "indptr"), indices(indices_, "indices"), data(data_, "data");
    const nz::shape shape = checked_shape(shape_);
    return with_type(data.type(), "data", [&]<class V>() -> std::unique_ptr<any_operator> {
        if (device < 0) return planned_on_cpu<V>(shape, indptr, indices, data, threads, options);
        return planned_on_gpu<V>(shape, indptr, indices, data, gpu{.device = device}, stream,
                                 options);
    });
}

nb::dict as_dict(const plan_report::candidate& c) {
    nb::dict d;
    d["method"] = c.method;
    d["declined"] = c.declined;
    d["matrix_bytes"] = c.matrix_bytes;
    d["bytes"] = c.bytes;
    d["predicted_s"] = c.predicted_s;
    d["predicted_setup_s"] = c.predicted_setup_s;
    d["measured_s"] = c.measured_s;
    d["measured_setup_s"] = c.measured_setup_s;
    return d;
}

nb::dict report_of(const any_operator& op) {
    const plan_report& r = op.report();
    nb::list candidates;
    for (const plan_report::candidate& c : r.candidates) candidates.append(as_dict(c));
    nb::dict d;
    d["shape"] = nb::make_tuple(r.shape.rows, r.shape.cols);
    d["nnz"] = r.nnz;
    d["machine"] = r.machine;
    d["storage"] = std::string(name_of(r.storage));
    d["bound"] = r.bound.relative;
    d["why"] = r.why;
    d["text"] = to_text(r);
    d["candidates"] = candidates;
    return d;
}

}  // namespace

nz::shape checked_shape(std::tuple<std::int64_t, std::int64_t> s) {
    constexpr std::int64_t most = std::numeric_limits<index>::max();
    const auto [rows, cols] = s;
    if (rows < 0 || cols < 0 || rows > most || cols > most)
        throw nb::value_error(
            fmt::format("shape: ({}, {}), expected 0 to {} rows and columns", rows, cols, most)
                .c_str());
    return {index(rows), index(cols)};
}

template <class V, class B>
std::shared_ptr<const linear_operator<V, B>> operator_in(const any_operator& op, const char* name) {
    const auto* const typed = dynamic_cast<const typed_operator<V, B>*>(&op);
    if (typed == nullptr)
        throw nb::type_error(
            fmt::format("{}: an operator of {} {}, expected of {} {}", name, type_name(op.type()),
                        op.device() < 0 ? "on the CPU" : "on a GPU", type_name(type_code<V>()),
                        std::is_same_v<B, cpu> ? "on the CPU" : "on a GPU")
                .c_str());
    return typed->op();
}

template <class V, class B>
std::unique_ptr<any_operator> unplanned(B on, std::unique_ptr<linear_operator<V, B>> op) {
    return std::make_unique<typed_operator<V, B>>(on, std::move(op));
}

#define NZ_INSTANTIATE(V, B)                                                                     \
    template std::shared_ptr<const linear_operator<V, B>> operator_in<V, B>(const any_operator&, \
                                                                            const char*);        \
    template std::unique_ptr<any_operator> unplanned(B, std::unique_ptr<linear_operator<V, B>>);
#define NZ_INSTANTIATE_BOTH(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_BOTH)

void bind_operators(nb::module_& m) {
    nb::enum_<transposition>(m, "Transposition")
        .value("plain", transposition::plain)
        .value("transpose", transposition::transpose)
        .value("conjugate_transpose", transposition::conjugate_transpose);
    nb::class_<any_operator>(m, "Operator")
        .def("apply", &any_operator::apply, "op"_a, "x"_a, "out"_a, "alpha"_a.none(),
             "beta"_a.none(), "stream"_a)
        .def("apply_at", &any_operator::apply_at, "x"_a, "y"_a, "stream"_a)
        .def("update_values", &any_operator::update_values, "indptr"_a, "indices"_a, "data"_a,
             "stream"_a)
        .def("store_transpose", &any_operator::store_transpose, "indptr"_a, "indices"_a, "data"_a,
             "stream"_a)
        .def("report", &report_of)
        .def_prop_ro(
            "shape",
            [](const any_operator& op) { return std::tuple(op.shape().rows, op.shape().cols); })
        .def_prop_ro("nbytes", &any_operator::bytes)
        .def_prop_ro("dtype", [](const any_operator& op) { return std::string(1, op.type()); })
        .def_prop_ro("device", &any_operator::device);
    m.def(
        "plan",
        [](std::tuple<std::int64_t, std::int64_t> shape, nb::handle indptr, nb::handle indices,
           nb::handle data, int device, std::uintptr_t stream, int threads,
           std::optional<std::int64_t> products, bool tune, bool fresh, bool deterministic,
           std::vector<std::string> methods, bool transposed, index vectors,
           const std::string& storage, bool measured) {
            plan_options options;
            if (!measured) options.accept = plan_options::acceptance::predicted;
            if (products) options.expected_products = *products;
            options.tune = tune, options.fresh = fresh, options.deterministic = deterministic;
            options.methods = std::move(methods);
            options.transposed = transposed, options.vectors = vectors;
            options.storage = storage_named(storage);
            return make_operator(shape, indptr, indices, data, device, stream, threads, options);
        },
        "shape"_a, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "device"_a, "stream"_a,
        "threads"_a, "products"_a.none(), "tune"_a, "fresh"_a, "deterministic"_a, "methods"_a,
        "transposed"_a, "vectors"_a, "storage"_a, "measured"_a);
}

}  // namespace nz::python
