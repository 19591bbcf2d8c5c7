// nz explain --once: one product by each kernel on the GPU, for a profiler to count.
#include <fmt/format.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/explain/explain.hpp"
#include "cli/report.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz::cli {
namespace {

/// Whether the method was asked for, has a trace to be held against and multiplies A on a GPU.
template <class V>
bool is_wanted(const explain_options& o, const method<V>& m, const matrix_stats& stats) {
    if (!o.method.empty() && m.name != o.method) return false;
    const auto traced = traced_methods<V>();
    return std::find(traced.begin(), traced.end(), m.name) != traced.end() &&
           m.cost(stats).declined.empty() && m.cost_on_gpu(stats).declined.empty();
}

/// Between two launches of negate_kernel, which say in the profiler's report where it begins and
/// ends: the launches that built the layout stand outside.
template <class V>
void multiply_once(gpu on, const method<V>& m, const csr<V, host_view>& A, device_array<V>& x,
                   device_array<V>& y) {
    const auto op = build(m, on, A);
    negate_alone<V>(on, x);
    op->apply(V(1), x, V(0), y);
    negate_alone<V>(on, x);
    synchronize(on);
}

}  // namespace

template <class V>
int explain_once(const explain_options& o, const csr<V, host_view>& A) {
    json_file json(o.json);
    const gpu_stream stream;
    const gpu on = stream;
    const matrix_stats stats = compute_stats(A);
    auto x = to_device<V>(on, host_vector<V>(std::size_t(A.shape.cols), V(1)));
    auto y = to_device<V>(on, host_vector<V>(std::size_t(A.shape.rows), V(0)));
    std::vector<std::string_view> multiplied;
    for (const method<V>& m : methods<V>()) {
        if (!is_wanted(o, m, stats)) continue;
        multiply_once(on, m, A, x, y);
        multiplied.push_back(m.name);
    }
    nz::json j = provenance("explain", true);
    j.update({{"matrix", matrix_name(o.matrix)},
              {"value", value_name<V>()},
              {"multiplied", multiplied}});
    json.write(j);
    if (!json.is_stdout()) fmt::print("{}\n", fmt::join(multiplied, "\n"));
    return multiplied.empty() ? answer_is_no : done;
}

template int explain_once(const explain_options&, const csr<float, host_view>&);
template int explain_once(const explain_options&, const csr<double, host_view>&);

}  // namespace nz::cli
