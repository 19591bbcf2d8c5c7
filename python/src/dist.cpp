// Matrices over ranks from Python. MPI is mpi4py's: the library sends what it sends by way of it,
// so that the package is built without MPI and runs with any.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <memory>

#include "nonzero/core/error.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/gpu/gpu_ranks.hpp"
#include "nonzero/dist/read_slice.hpp"
#include "nonzero/vector/vectors.hpp"
#include "python/src/array.hpp"
#include "python/src/module.hpp"
#include "python/src/operator.hpp"
#include "python/src/solvers.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;

/// Ranks of a transport, an object of nonzero.dist's over a communicator of mpi4py's. Called
/// without the GIL. What Python raises becomes a device_error.
class ranks_of_python final : public communicator {
  public:
    ranks_of_python(nb::object transport, int rank, int size)
        : transport_(std::move(transport)), rank_(rank), size_(size) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const override {
        call([&] { transport_.attr("all_gather")(borrowed(mine), borrowed(all)); });
    }
    void start(std::span<const message<const std::byte>> out,
               std::span<const message<std::byte>> in) const override {
        call([&] {
            nb::list to, from;
            for (const auto& m : out) to.append(nb::make_tuple(m.peer, borrowed(m.bytes)));
            for (const auto& m : in) from.append(nb::make_tuple(m.peer, borrowed(m.bytes)));
            transport_.attr("start")(to, from);
        });
    }
    void wait() const override {
        call([&] { transport_.attr("wait")(); });
    }

    /// This process's GPU, which is chosen when it is first asked for. Called by all ranks.
    const gpu_rank& on_gpu(bool may_share) const {
        if (!on_gpu_) on_gpu_.emplace(*this, may_share);
        return *on_gpu_;
    }

  private:
    template <class F>
    static void call(F f) {
        const nb::gil_scoped_acquire held;
        try {
            f();
        } catch (const nb::python_error& e) {
            throw device_error(e.what());
        }
    }
    /// The memory as a memoryview.
    template <class Byte>
    static nb::object borrowed(std::span<Byte> bytes) {
        static char nothing = 0;
        constexpr bool is_read = std::is_const_v<Byte>;
        char* const at = bytes.empty()
                             ? &nothing
                             : const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
        return nb::steal(PyMemoryView_FromMemory(at, Py_ssize_t(bytes.size()),
                                                 is_read ? PyBUF_READ : PyBUF_WRITE));
    }

    nb::object transport_;
    int rank_, size_;
    mutable std::optional<gpu_rank> on_gpu_;
};

/// The processes' CPUs, or a GPU each.
struct place {
    bool on_gpu, may_share_gpu;
    int threads;
};

/// A matrix over ranks, of any value type: this rank's rows, or an operator that is built of them.
class any_distributed {
  public:
    virtual ~any_distributed() = default;
    [[nodiscard]] virtual char type() const = 0;
    [[nodiscard]] virtual nz::shape shape() const = 0;  ///< of all ranks
    [[nodiscard]] virtual range rows() const = 0;       ///< this rank's
    [[nodiscard]] virtual range cols() const = 0;       ///< this rank's elements of x
    [[nodiscard]] virtual std::size_t entries() const = 0;
};

template <class V>
class rows_over_ranks final : public any_distributed {
  public:
    rows_over_ranks(std::shared_ptr<ranks_of_python> ranks, matrix_slice<V> A)
        : ranks_(std::move(ranks)), A_(std::move(A)) {}
    [[nodiscard]] char type() const override { return type_code<V>(); }
    [[nodiscard]] nz::shape shape() const override { return A_.shape(); }
    [[nodiscard]] range rows() const override { return A_.rows.of(ranks_->rank()); }
    [[nodiscard]] range cols() const override { return A_.cols.of(ranks_->rank()); }
    [[nodiscard]] std::size_t entries() const override { return A_.own.val.size(); }
    [[nodiscard]] matrix_slice<V> slice() const { return A_; }
    /// f of the backend that is meant. Complex values stay on the CPUs.
    template <class F>
    auto with_backend(const place& where, F f) const {
        if constexpr (is_complex<V>) {
            if (where.on_gpu)
                throw argument_error("device: complex values are shared out over CPUs only");
        } else {
            if (where.on_gpu) return f(gpu(ranks_->on_gpu(where.may_share_gpu)));
        }
        return f(cpu{.threads = where.threads, .ranks = ranks_.get()});
    }

  private:
    std::shared_ptr<ranks_of_python> ranks_;
    matrix_slice<V> A_;
};

/// f of the rows as what they are.
template <class F>
auto with_rows(const any_distributed& A, F f) {
    return with_type(A.type(), "A",
                     [&]<class V>() { return f(dynamic_cast<const rows_over_ranks<V>&>(A)); });
}

/// y = A x of this rank's elements: x and y both in the CPU's memory, or both on this rank's GPU.
class product_over_ranks {
  public:
    product_over_ranks(std::shared_ptr<any_distributed> A, bool on_gpu, bool may_share_gpu,
                       int threads)
        : A_(std::move(A)) {
        with_rows(*A_, [&]<class V>(const rows_over_ranks<V>& rows) {
            rows.with_backend({on_gpu, may_share_gpu, threads},
                              [&](auto on) { build(on, rows.slice()); });
        });
    }
    void apply(nb::handle x_, nb::handle y_, std::uintptr_t stream) const {
        apply_(array(x_, "x"), array(y_, "y", true), stream);
    }
    [[nodiscard]] const std::string& method() const { return method_; }
    [[nodiscard]] int device() const { return device_; }

  private:
    template <class V, class B>
    void build(B on, matrix_slice<V> A) {
        std::shared_ptr<distributed<V, B>> op;
        {
            const nb::gil_scoped_release others_run;
            op = std::make_shared<distributed<V, B>>(on, std::move(A));
        }
        method_ = op->method_name();
        if constexpr (std::is_same_v<B, gpu>) device_ = on.device;
        apply_ = [on, op](const array& x, const array& y, std::uintptr_t stream) {
            if (x.device() < 0)
                multiply_in_cpu_memory<V>(on, *op, x.elements<V>(), y.elements<V>());
            else if constexpr (std::is_same_v<B, gpu>)
                multiply_on_gpu<V>(on, *op, x, y, stream);
            else
                x.expect_device(-1);
        };
    }
    template <class V>
    static void multiply_in_cpu_memory(cpu, const distributed<V, cpu>& A, std::span<const V> x,
                                       std::span<V> y) {
        const nb::gil_scoped_release others_run;
        A.apply(V(1), x, V(0), y);
    }
    template <class V>
    static void multiply_in_cpu_memory(gpu on, const distributed<V, gpu>& A, std::span<const V> x,
                                       std::span<V> y) {
        const nb::gil_scoped_release others_run;
        const auto from = from_host<V>(on, x);
        device_array<V> to(on, y.size());
        A.apply(V(1), from, V(0), to);
        std::ranges::copy(to_host<V>(on, to), y.begin());
    }
    template <class V>
    static void multiply_on_gpu(gpu on, const distributed<V, gpu>& A, const array& x,
                                const array& y, std::uintptr_t stream) {
        for (const array* a : {&x, &y}) a->expect_device(on.device), a->expect_contiguous();
        const device_span<V> from(x.data<V>(), std::size_t(x.size()));
        const device_out<V> to(y.data<V>(), std::size_t(y.size()));
        const nb::gil_scoped_release others_run;
        const in_stream_of_caller s(
            on, {.device = on.device, .stream = reinterpret_cast<void*>(stream)});
        A.apply(V(1), from, V(0), to);
    }

    std::shared_ptr<any_distributed> A_;  // whose ranks the product talks to
    std::string method_;
    int device_ = -1;
    std::function<void(const array&, const array&, std::uintptr_t)> apply_;
};

std::shared_ptr<any_distributed> read_rows(std::shared_ptr<ranks_of_python> ranks,
                                           const std::string& path, const std::string& code) {
    return with_type(code.at(0), "dtype", [&]<class V>() -> std::shared_ptr<any_distributed> {
        const nb::gil_scoped_release others_run;
        auto A = read_slice<V>(*ranks, path);
        return std::make_shared<rows_over_ranks<V>>(std::move(ranks), std::move(A));
    });
}

std::shared_ptr<any_distributed> take_rows(std::shared_ptr<ranks_of_python> ranks,
                                           std::tuple<std::int64_t, std::int64_t> shape,
                                           nb::handle indptr_, nb::handle indices_,
                                           nb::handle data_) {
    const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"), data(data_, "A.data");
    return with_type(data.type(), "A.data", [&]<class V>() -> std::shared_ptr<any_distributed> {
        const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
        const nb::gil_scoped_release others_run;
        auto slice = slice_from(*ranks, canonical(A.view()));
        return std::make_shared<rows_over_ranks<V>>(std::move(ranks), std::move(slice));
    });
}

nb::dict solve_rows(const any_distributed& A, nb::handle b_, nb::handle x_, int threads, double tol,
                    std::int64_t maxiter, double max_seconds, int restart,
                    const std::optional<std::string>& method,
                    const std::optional<std::string>& preconditioner, int fill_level,
                    bool iterative, bool on_gpu, bool may_share_gpu) {
    const array b(b_, "b"), x(x_, "x0", true);
    const system_options o =
        options_of(A.shape().rows, tol, maxiter, max_seconds, restart, method, preconditioner, 0,
                   nb::none(), fill_level, iterative, "eigen");
    return dict_of(with_rows(A, [&]<class V>(const rows_over_ranks<V>& rows) {
        const auto rhs = b.elements<V>(), solution = x.elements<V>();
        const nb::gil_scoped_release others_run;
        return rows.with_backend({on_gpu, may_share_gpu, threads}, [&]<class B>(B on) {
            return solve<V, B>(on, rows.slice(), rhs, solution, o);
        });
    }));
}

}  // namespace

void bind_dist(nb::module_& m) {
    nb::class_<ranks_of_python>(m, "Ranks")
        .def(nb::init<nb::object, int, int>(), "transport"_a, "rank"_a, "size"_a);
    nb::class_<any_distributed>(m, "DistributedRows")
        .def_prop_ro("dtype", [](const any_distributed& A) { return std::string(1, A.type()); })
        .def_prop_ro(
            "shape",
            [](const any_distributed& A) { return nb::make_tuple(A.shape().rows, A.shape().cols); })
        .def_prop_ro(
            "rows",
            [](const any_distributed& A) { return nb::make_tuple(A.rows().first, A.rows().last); })
        .def_prop_ro(
            "cols",
            [](const any_distributed& A) { return nb::make_tuple(A.cols().first, A.cols().last); })
        .def_prop_ro("entries", &any_distributed::entries);
    nb::class_<product_over_ranks>(m, "DistributedProduct")
        .def(nb::init<std::shared_ptr<any_distributed>, bool, bool, int>(), "A"_a, "on_gpu"_a,
             "share_gpu"_a, "threads"_a)
        .def_prop_ro("method", &product_over_ranks::method)
        .def_prop_ro("device", &product_over_ranks::device)
        .def("apply", &product_over_ranks::apply, "x"_a, "y"_a, "stream"_a);
    m.def("read_rows", &read_rows, "ranks"_a, "path"_a, "dtype"_a);
    m.def("distributed_rows", &take_rows, "ranks"_a, "shape"_a, "indptr"_a, "indices"_a, "data"_a);
    m.def("solve_rows", &solve_rows, "A"_a, "b"_a, "x"_a, nb::kw_only(), "threads"_a, "tol"_a,
          "maxiter"_a, "max_seconds"_a, "restart"_a, "method"_a.none(), "preconditioner"_a.none(),
          "fill_level"_a, "iterative"_a, "on_gpu"_a, "share_gpu"_a);
}

}  // namespace nz::python
