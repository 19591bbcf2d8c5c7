// Matrices from files and generators, to files, as pictures; and methods timed on them.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>

#include "nonzero/core/stream.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/io/picture.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/plan/benchmark.hpp"
#include "python/src/module.hpp"
#include "python/src/monitor.hpp"
#include "python/src/operator.hpp"
#include "python/src/owned.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;
using shape_pair = std::tuple<std::int64_t, std::int64_t>;

/// (data, indices, indptr), shape, as SciPy's csr_array takes them; the arrays own A's memory.
template <class V>
nb::tuple as_tuple(csr<V, host>&& A) {
    nb::object indptr = owned_offsets(A.row_ptr);
    return nb::make_tuple(
        nb::make_tuple(owned(std::move(A.val)), owned(std::move(A.col_ind)), indptr),
        nb::make_tuple(A.shape.rows, A.shape.cols));
}

nb::tuple read_matrix(const std::string& path, const std::optional<std::string>& dtype,
                      int threads) {
    char code = 0;
    {
        const nb::gil_scoped_release others_run;
        code = inspect(path).field == field::complex ? 'D' : 'd';
    }
    if (dtype) code = (*dtype)[0];
    return with_type(code, "dtype", [&]<class V>() {
        csr<V, host> A;
        {
            const nb::gil_scoped_release others_run;
            A = read<V>(path, {.threads = threads});
        }
        return as_tuple(std::move(A));
    });
}

nb::dict file_header(const std::string& path) {
    const file_info info = [&] {
        const nb::gil_scoped_release others_run;
        return inspect(path);
    }();
    nb::dict d;
    d["format"] = info.format;
    d["shape"] = nb::make_tuple(info.shape.rows, info.shape.cols);
    d["entries"] = info.entries;
    d["field"] = std::string(name_of(info.field));
    d["symmetry"] = std::string(name_of(info.symmetry));
    return d;
}

void write_matrix(const std::string& path, shape_pair shape, nb::handle indptr_,
                  nb::handle indices_, nb::handle data_) {
    const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"), data(data_, "A.data");
    with_type(data.type(), "A.data", [&]<class V>() {
        const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
        const nb::gil_scoped_release others_run;
        write(path, A.view());
    });
}

/// Whether A is symmetric, or hermitian.
bool symmetric(shape_pair shape, nb::handle indptr_, nb::handle indices_, nb::handle data_) {
    const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"), data(data_, "A.data");
    return with_type(data.type(), "A.data", [&]<class V>() {
        const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
        const nb::gil_scoped_release others_run;
        return is_symmetric(A.view());
    });
}

nb::tuple generated(const std::string& name, const std::vector<double>& parameters,
                    std::uint64_t seed, const std::string& dtype) {
    return with_type(dtype[0], "dtype", [&]<class V>() {
        csr<V, host> A;
        {
            const nb::gil_scoped_release others_run;
            A = generate<V>(name, parameters, seed);
        }
        return as_tuple(std::move(A));
    });
}

nb::list generators_known() {
    nb::list all;
    for (const generator<double>& g : generators<double>()) {
        nb::list parameters;
        for (const parameter& p : g.parameters)
            parameters.append(nb::make_tuple(p.name, p.value, p.whole, p.what));
        all.append(nb::make_tuple(g.name, g.what, parameters, g.seeded));
    }
    return all;
}

nb::tuple picture_of(shape_pair shape, nb::handle indptr_, nb::handle indices_, nb::handle data_,
                     int width, int height) {
    const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"), data(data_, "A.data");
    return with_type(data.type(), "A.data", [&]<class V>() {
        const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
        picture p;
        {
            const nb::gil_scoped_release others_run;
            const picture_size size = fit(A.view().shape, width, height);
            p = spy(A.view(), size.width, size.height);
        }
        const int rows = p.height, columns = p.width;
        const auto most = p.most;
        return nb::make_tuple(owned(std::move(p.density)), rows, columns, most);
    });
}

nb::list methods_known(bool on_gpu) {
    nb::list all;
    for (const method<double>& m : methods<double>())
        if (on_gpu ? m.on_gpu != nullptr : m.on_cpu != nullptr) all.append(std::string(m.name));
    return all;
}

nb::dict as_dict(const benchmark_result& r, std::int64_t nnz, double flops_a_product) {
    nb::dict d;
    d["method"] = r.method;
    d["threads"] = r.threads;
    d["declined"] = r.declined;
    if (!r.measured()) return d;
    d["median_s"] = r.time.median_s;
    d["min_s"] = r.time.min_s;
    d["spread"] = r.time.spread;
    d["gflops"] = flops_a_product / r.time.median_s * 1e-9;
    d["gbps"] = r.gbps();
    d["setup_s"] = r.setup_s;
    d["bytes_per_entry"] = nnz > 0 ? r.matrix_bytes / double(nnz) : 0;
    d["error_bounds"] = r.error.worst;
    return d;
}

nb::list benchmark(shape_pair shape, nb::handle indptr_, nb::handle indices_, nb::handle data_,
                   int device, std::vector<int> threads, const std::vector<std::string>& names,
                   double seconds) {
    const array indptr(indptr_, "A.indptr"), indices(indices_, "A.indices"), data(data_, "A.data");
    return with_type(data.type(), "A.data", [&]<class V>() {
        const borrowed_csr<V, host_view> A(checked_shape(shape), indptr, indices, data);
        std::vector<const method<V>*> chosen;
        for (const method<V>& m : methods<V>())
            if (names.empty() && (device < 0 ? m.on_cpu != nullptr : m.on_gpu != nullptr))
                chosen.push_back(&m);
        for (const std::string& n : names) chosen.push_back(&find_method<V>(n));
        measure_options o;
        o.seconds = seconds;
        std::vector<benchmark_result> results;
        {
            const nb::gil_scoped_release others_run;
            if (device < 0) {
                const auto cases = make_cases<V>(chosen, threads);
                results = run_benchmark<V>(A.view(), cases, o);
            } else {
                require_gpu({.device = device});
                const auto cases = make_gpu_cases<V>(chosen);
                results = run_benchmark<V>(gpu{.device = device}, A.view(), cases, o);
            }
        }
        nb::list all;
        const auto nnz = std::int64_t(A.view().val.size());
        for (const benchmark_result& r : results) all.append(as_dict(r, nnz, flops<V>(nnz)));
        return all;
    });
}

}  // namespace

void bind_matrices(nb::module_& m) {
    m.def("read", &read_matrix, "path"_a, nb::kw_only(), "dtype"_a.none(), "threads"_a);
    m.def("inspect", &file_header, "path"_a);
    m.def("write", &write_matrix, "path"_a, "shape"_a, "indptr"_a, "indices"_a, "data"_a);
    m.def("is_symmetric", &symmetric, "shape"_a, "indptr"_a, "indices"_a, "data"_a);
    m.def("generate", &generated, "name"_a, "parameters"_a, nb::kw_only(), "seed"_a, "dtype"_a);
    m.def("generators", &generators_known);
    m.def("picture", &picture_of, "shape"_a, "indptr"_a, "indices"_a, "data"_a, "width"_a,
          "height"_a);
    m.def("methods", &methods_known, "on_gpu"_a);
    m.def("benchmark", &benchmark, "shape"_a, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(),
          "device"_a, "threads"_a, "methods"_a, "seconds"_a);
}

}  // namespace nz::python
