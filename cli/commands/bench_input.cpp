#include "cli/commands/bench_input.hpp"

#include <cmath>

#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/gen/distinct.hpp"
#include "nonzero/gen/tiled.hpp"

namespace nz::cli {

void check(const input_options& o) {
    if (!o.tile) return;
    const double entries = *o.tile;
    if (!(entries >= 1 && entries <= 1e12 && std::floor(entries) == entries))
        throw argument_error("--tile: expected a whole number from 1 to 1e12, as in 1.5e8");
}

template <class V>
bench_input<V> read_bench_input(const std::string& path, const input_options& o) {
    bench_input<V> in{.name = matrix_name(path), .A = read_matrix<V>(path)};
    if (!o.distinct) in.distinct_values = count_distinct<V>(in.A.val);
    if (o.tile) {
        in.copies = copies_for(std::int64_t(*o.tile), in.A.val.size());
        in.A = tiled(view(in.A), in.copies);
    }
    if (o.distinct) {
        make_distinct<V>(in.A.val, o.seed);
        in.distinct_values = count_distinct<V>(in.A.val);
    }
    auto rounded = stored_values<V>(cpu{}, in.A.val, o.storage);
    if (!rounded.empty()) in.A.val = std::move(rounded);
    return in;
}

cache_level last_level_cache(bool on_gpu) {
    if (on_gpu) return {"l2", describe_gpu(gpu{}).l2_bytes};
    const machine_info m = describe_machine();
    return {"llc", m.l3_bytes > 0 ? m.l3_bytes : m.l2_bytes};
}

template <class V>
nz::json to_json(const bench_input<V>& in, const cache_level& cache) {
    const auto nnz = std::int64_t(in.A.val.size());
    nz::json j = {{"name", in.name},         {"rows", in.A.shape.rows},
                  {"cols", in.A.shape.cols}, {"nnz", nnz},
                  {"tile", in.copies},       {"distinct_values", in.distinct_values},
                  {"csr_bytes", bytes(in.A)}};
    const std::string which = matrix_class(bytes(in.A), in.distinct_values == nnz, cache);
    if (!which.empty()) j["class"] = which;
    return j;
}

#define NZ_INSTANTIATE(V)                                                               \
    template bench_input<V> read_bench_input(const std::string&, const input_options&); \
    template nz::json to_json(const bench_input<V>&, const cache_level&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::cli
