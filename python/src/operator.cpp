#include "python/src/module.hpp"
#include "python/src/operator.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <shared_mutex>

#include "nonzero/core/gpu.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;

template <class V>
V scalar(nb::handle from, const char* name) {
    if (PyFloat_CheckExact(from.ptr())) return V(real<V>(PyFloat_AsDouble(from.ptr())));
    const Py_complex c = PyComplex_AsCComplex(from.ptr());
    if (c.real == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    if constexpr (is_complex<V>) {
        return {real<V>(c.real), real<V>(c.imag)};
    } else {
        if (c.imag != 0)
            throw nb::type_error(
                (std::string(name) + ": complex, expected a real number, as the values are real")
                    .c_str());
        return V(c.real);
    }
}

/// Between what the caller launched in his stream before and what he launches afterwards, whatever
/// stream the operator was built for. The CPU waits for nothing.
class in_stream_of_caller {
  public:
    in_stream_of_caller(gpu own, gpu callers) : own_(own), callers_(callers) {
        if (own_.stream != callers_.stream) start_after(own_, callers_);
    }
    ~in_stream_of_caller() noexcept(false) {
        if (own_.stream != callers_.stream) start_after(callers_, own_);
    }
    in_stream_of_caller(const in_stream_of_caller&) = delete;
    in_stream_of_caller& operator=(const in_stream_of_caller&) = delete;

  private:
    gpu own_, callers_;
};

/// The columns of an array in GPU memory, which must each be contiguous.
template <class Columns, class V>
Columns device_columns(const array& a) {
    const auto rows = std::size_t(a.length(0)), count = std::size_t(a.length(1));
    if ((rows > 1 && a.stride(0) != 1) || (count > 1 && a.stride(1) < a.length(0)))
        throw nb::value_error(
            (std::string(a.name()) + ": expected contiguous columns (order='F') on a GPU").c_str());
    const std::size_t stride = count > 1 ? std::size_t(a.stride(1)) : rows;
    return {{a.data<V>(), count == 0 ? 0 : (count - 1) * stride + rows}, stride, index(count)};
}

template <class V, class B>
class typed_operator final : public any_operator {
    using space = typename B::view;

  public:
    /// An operator that has been planned.
    typed_operator(B on, plan<V, B> p, std::unique_ptr<linear_operator<V, B>> op,
                   plan_options options)
        : on_(on), plan_(std::move(p)), op_(std::move(op)), options_(std::move(options)) {}
    /// One that has not.
    typed_operator(B on, std::unique_ptr<linear_operator<V, B>> op,
                   std::shared_ptr<gpu_stream> stream)
        : stream_(std::move(stream)), on_(on), op_(std::move(op)) {}

    void apply(transposition op, nb::handle x_, nb::handle y_, nb::handle alpha_, nb::handle beta_,
               std::uintptr_t stream) const override {
        const array x(x_, "x"), y(y_, "out", true);
        const V alpha = alpha_.is_none() ? V(1) : scalar<V>(alpha_, "alpha");
        const V beta = beta_.is_none() ? V(0) : scalar<V>(beta_, "beta");
        const nz::shape A = shape();
        const bool plain = op == transposition::plain;
        const index rows = plain ? A.rows : A.cols, cols = plain ? A.cols : A.rows;
        const bool one = x.dimensions() == 1;
        for (const array* a : {&x, &y}) {
            a->expect_device(device());
            a->expect_type(type());
        }
        x.expect_shape(cols, one ? -1 : x.length(1));
        y.expect_shape(rows, one ? -1 : x.length(1));
        const nb::gil_scoped_release others_run;
        const std::shared_lock held(replacing_);
        if constexpr (std::is_same_v<B, cpu>) {
            borrowed_columns<V> X(x), Y(y);
            multiply(op, one, alpha, X.all(), beta, Y.all());
            Y.write_back();
        } else {
            const in_stream_of_caller s(on_, {.device = on_.device,
                                              .stream = reinterpret_cast<void*>(stream)});
            multiply(op, one, alpha, device_columns<in_columns<V, gpu>, V>(x), beta,
                     device_columns<out_columns<V, gpu>, V>(y));
        }
    }

    [[nodiscard]] const plan_report& report() const override {
        if (!plan_) throw nb::value_error("this operator is of no plan");
        return *plan_;
    }

    void update_values(nb::handle indptr, nb::handle indices, nb::handle data) override {
        if (!plan_) throw nb::value_error("this operator is of no plan: its values stay");
        with_matrix(indptr, indices, data, [&](const csr<V, space>& A) {
            nz::update_values(op_, *plan_, A);
        });
    }

    void store_transpose(nb::handle indptr, nb::handle indices, nb::handle data) override {
        with_matrix(indptr, indices, data, [&](const csr<V, space>& A) {
            if (options_.transposed) return;
            plan_options with = options_;
            with.transposed = true;
            with.methods = {plan_->chosen().method};
            plan<V, B> p = make_plan(A, on_, with);
            op_ = build(p, A);
            plan_->of_transpose = p.of_transpose;
            options_.transposed = true;
        });
    }

    [[nodiscard]] nz::shape shape() const override { return op_->shape(); }
    [[nodiscard]] std::size_t bytes() const override { return op_->bytes(); }
    [[nodiscard]] char type() const override { return type_code<V>(); }
    [[nodiscard]] int device() const override {
        if constexpr (std::is_same_v<B, gpu>) return on_.device;
        return -1;
    }
    [[nodiscard]] const linear_operator<V, B>& op() const { return *op_; }

  private:
    template <class X, class Y>
    void multiply(transposition op, bool one, V alpha, X x, V beta, Y y) const {
        const nz::shape A = shape();
        const bool plain = op == transposition::plain;
        const auto rows = std::size_t(plain ? A.rows : A.cols);
        const auto cols = std::size_t(plain ? A.cols : A.rows);
        if (plain && !one) return op_->apply_many(alpha, as_input(x), beta, y);
        for (index c = 0; c < x.count; ++c) {
            const auto from = column(as_input(x), c, cols);
            const auto to = column(y, c, rows);
            plain ? op_->apply(alpha, from, beta, to)
                  : op_->apply_transposed(op, alpha, from, beta, to);
        }
    }
    static in_columns<V, B> as_input(const auto& x) { return {x.values, x.stride, x.count}; }

    template <class F>
    void with_matrix(nb::handle indptr_, nb::handle indices_, nb::handle data_, F f) const {
        const array indptr(indptr_, "indptr"), indices(indices_, "indices"), data(data_, "data");
        const borrowed_csr<V, space> A(shape(), indptr, indices, data);
        const nb::gil_scoped_release others_run;
        const std::unique_lock alone(replacing_);
        f(A.view());
    }

    std::shared_ptr<gpu_stream> stream_;  // before what lives in it
    B on_;
    std::optional<plan<V, B>> plan_;
    std::unique_ptr<linear_operator<V, B>> op_;
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
    auto p = make_plan(A.view(), on, options);
    auto op = build(p, A.view());
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
        auto p = make_plan(A.view(), on, options);
        auto op = build(p, A.view());
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

nb::dict as_dict(const candidate& c) {
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
    for (const candidate& c : r.candidates) candidates.append(as_dict(c));
    nb::dict d;
    d["shape"] = nb::make_tuple(r.shape.rows, r.shape.cols);
    d["nnz"] = r.nnz;
    d["machine"] = r.machine;
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
const linear_operator<V, B>& operator_in(const any_operator& op, const char* name) {
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
std::unique_ptr<any_operator> unplanned(B on, std::unique_ptr<linear_operator<V, B>> op,
                                        std::shared_ptr<gpu_stream> stream) {
    return std::make_unique<typed_operator<V, B>>(on, std::move(op), std::move(stream));
}

#define NZ_INSTANTIATE(V, B)                                                               \
    template const linear_operator<V, B>& operator_in<V, B>(const any_operator&, const char*); \
    template std::unique_ptr<any_operator> unplanned(                                      \
        B, std::unique_ptr<linear_operator<V, B>>, std::shared_ptr<gpu_stream>);
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
        .def("update_values", &any_operator::update_values, "indptr"_a, "indices"_a, "data"_a)
        .def("store_transpose", &any_operator::store_transpose, "indptr"_a, "indices"_a, "data"_a)
        .def("report", &report_of)
        .def_prop_ro("shape",
                     [](const any_operator& op) {
                         return std::tuple(op.shape().rows, op.shape().cols);
                     })
        .def_prop_ro("nbytes", &any_operator::bytes)
        .def_prop_ro("dtype", [](const any_operator& op) { return std::string(1, op.type()); })
        .def_prop_ro("device", &any_operator::device);
    m.def(
        "plan",
        [](std::tuple<std::int64_t, std::int64_t> shape, nb::handle indptr, nb::handle indices,
           nb::handle data, int device, std::uintptr_t stream, int threads,
           std::optional<std::int64_t> products, bool tune, bool fresh, bool deterministic,
           std::vector<std::string> methods, bool transposed) {
            plan_options options;
            if (products) options.expected_products = *products;
            options.tune = tune, options.fresh = fresh, options.deterministic = deterministic;
            options.methods = std::move(methods);
            options.transposed = transposed;
            return make_operator(shape, indptr, indices, data, device, stream, threads, options);
        },
        "shape"_a, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "device"_a, "stream"_a,
        "threads"_a, "products"_a.none(), "tune"_a, "fresh"_a, "deterministic"_a, "methods"_a,
        "transposed"_a);
}

}  // namespace nz::python
