// PageRank and partitions of graphs from Python.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "nonzero/core/stream.hpp"
#include "nonzero/graph/components.hpp"
#include "nonzero/graph/pagerank.hpp"
#include "nonzero/graph/partition.hpp"
#include "nonzero/graph/strong_components.hpp"
#include "python/src/module.hpp"
#include "python/src/operator.hpp"
#include "python/src/owned.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;
using shape_pair = std::tuple<std::int64_t, std::int64_t>;

template <class V, class B, class S>
nb::dict rank(B on, const csr<V, S>& G, pagerank_options::links direction,
              const pagerank_options& o, std::span<const V> teleport) {
    pagerank_options::result<V> r;
    {
        const nb::gil_scoped_release others_run;
        r = pagerank_graph<V, B>(on, G, direction).rank(o, teleport);
    }
    nb::dict d;
    d["rank"] = owned(std::move(r.rank));
    d["converged"] = r.report.converged;
    d["iterations"] = r.report.iterations;
    d["change"] = r.report.change;
    d["changes"] = owned(std::move(r.report.history));
    d["error_bound"] = r.report.error_bound(o.damping);
    d["setup_s"] = r.report.setup_s;
    d["solve_s"] = r.report.iterations_s;
    return d;
}

nb::dict pagerank_of(shape_pair shape, nb::handle indptr_, nb::handle indices_, nb::handle data_,
                     nb::object teleport_, int device, int threads, bool links_in_rows,
                     double damping, double tol, std::int64_t maxiter, std::uintptr_t current) {
    const array indptr(indptr_, "G.indptr"), indices(indices_, "G.indices"), data(data_, "G.data");
    std::optional<array> teleport;
    if (!teleport_.is_none()) teleport.emplace(teleport_, "personalization");
    const pagerank_options o{.damping = damping, .tol = tol, .max_iter = maxiter};
    const auto direction = links_in_rows ? pagerank_options::links::row_links_to_column
                                         : pagerank_options::links::column_links_to_row;
    return with_type(data.type(), "G.data", [&]<class V>() -> nb::dict {
        if constexpr (std::floating_point<V>) {
            const std::span<const V> t = teleport ? teleport->elements<V>() : std::span<V>();
            if (data.device() >= 0) {
                const borrowed_csr<V, device_view> G(checked_shape(shape), indptr, indices, data);
                const gpu_stream own(data.device());
                start_after(own,
                            {.device = data.device(), .stream = reinterpret_cast<void*>(current)});
                return rank<V>(gpu(own), G.view(), direction, o, t);
            }
            const borrowed_csr<V, host_view> G(checked_shape(shape), indptr, indices, data);
            if (device < 0) return rank<V>(cpu{.threads = threads}, G.view(), direction, o, t);
            require_gpu({.device = device});
            const gpu_stream stream(device);
            return rank<V>(gpu(stream), G.view(), direction, o, t);
        } else {
            throw nb::type_error("G.data: complex, expected real values");
        }
    });
}

nb::dict partition_of(shape_pair shape, nb::handle indptr_, nb::handle indices_, nb::handle data_,
                      index parts, double imbalance, const std::string& method) {
    const array indptr(indptr_, "G.indptr"), indices(indices_, "G.indices"), data(data_, "G.data");
    partition_options o;
    o.parts = parts, o.imbalance = imbalance;
    if (method == "metis") {
        o.method = partition_method::metis;
    } else if (method == "spectral") {
        o.method = partition_method::spectral;
    } else if (method != "auto") {
        throw nb::value_error(
            fmt::format("method: '{}', expected auto, metis or spectral", method).c_str());
    }
    return with_type(data.type(), "G.data", [&]<class V>() {
        const borrowed_csr<V, host_view> G(checked_shape(shape), indptr, indices, data);
        partition_result r;
        {
            const nb::gil_scoped_release others_run;
            r = partition(G.view(), o);
        }
        nb::dict d;
        d["part"] = owned(std::move(r.part));
        d["sizes"] = owned(std::move(r.sizes));
        d["cut"] = r.cut;
        d["imbalance"] = r.imbalance;
        d["components"] = r.components;
        d["method"] = r.winner;
        return d;
    });
}

/// Each node's component: the strong ones as they are numbered, those of A + A^T else.
nb::object components_in(shape_pair shape, nb::handle indptr_, nb::handle indices_,
                         nb::handle data_, bool strong) {
    const array indptr(indptr_, "G.indptr"), indices(indices_, "G.indices"), data(data_, "G.data");
    return with_type(data.type(), "G.data", [&]<class V>() {
        const borrowed_csr<V, host_view> G(checked_shape(shape), indptr, indices, data);
        host_vector<index> of;
        {
            const nb::gil_scoped_release others_run;
            of = strong ? strong_components_of(G.view()) : components_of(adjacency_of(G.view())).of;
        }
        return owned(std::move(of));
    });
}

}  // namespace

void bind_graphs(nb::module_& m) {
    m.def("pagerank", &pagerank_of, "shape"_a, "indptr"_a, "indices"_a, "data"_a,
          "teleport"_a.none(), nb::kw_only(), "device"_a, "threads"_a, "links_in_rows"_a,
          "damping"_a, "tol"_a, "maxiter"_a, "stream"_a);
    m.def("components", &components_in, "shape"_a, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(),
          "strong"_a);
    m.def("partition", &partition_of, "shape"_a, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(),
          "parts"_a, "imbalance"_a, "method"_a);
}

}  // namespace nz::python
