// nz reorder: rows and columns in an order that brings the entries together, and what for.
#include "nonzero/graph/reorder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/graph/metis.hpp"
#include "nonzero/graph/orders.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/timing/measure.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz::cli {
namespace {

struct reorder_arguments : run_options {
    std::string matrix, to, order_to, method = "rcm";
    index blocks = 64;
};

/// The matrix in one order.
struct state {
    nearness near;
    std::string product;
    timing time;
};

struct reorder_outcome {
    state before, after;
    nz::shape shape;
    std::size_t nnz = 0;
    double order_s = 0;
    std::string where;
    std::exception_ptr fault = nullptr;  ///< why the matrix or the order could not be written
};

template <class V, class B>
timed_runs product_of(B on, const linear_operator<V, B>& op, in<V, B> x, out<V, B> y) {
    return [=, &op](std::int64_t runs) {
        if constexpr (std::is_same_v<B, cpu>) {
            const auto start = std::chrono::steady_clock::now();
            for (std::int64_t k = 0; k < runs; ++k) op.apply(V(1), x, V(0), y);
            return seconds_since(start);
        } else {
            gpu_event first, last;
            first.record(on);
            for (std::int64_t k = 0; k < runs; ++k) op.apply(V(1), x, V(0), y);
            last.record(on);
            return last.seconds_since(first);
        }
    };
}

/// Times the planned product of both orders, in turns.
template <class V, class B>
void time_products(B on, const csr<V, host_view>& A, const csr<V, host_view>& R,
                   reorder_outcome& all) {
    const auto before = plan_and_build(A, on).op, after = plan_and_build(R, on).op;
    const host_vector<V> ones(std::size_t(A.shape.rows), V(1));
    const auto x = from_host(on, std::span<const V>(ones));
    auto y = from_host(on, std::span<const V>(ones));
    const timed_runs work[] = {product_of<V, B>(on, *before, x, y),
                               product_of<V, B>(on, *after, x, y)};
    const auto times = time_interleaved(std::span(work));
    all.before.product = before->method_name(), all.before.time = times[0];
    all.after.product = after->method_name(), all.after.time = times[1];
}

template <class V>
reorder_outcome reorder(const reorder_arguments& o) {
    const auto A = read_matrix<V>(o.matrix, o.threads);
    reorder_outcome all;
    all.shape = A.shape, all.nnz = A.val.size();
    running_clock clock("ordering " + matrix_name(o.matrix));
    const auto start = std::chrono::steady_clock::now();
    const adjacency graph = adjacency_of(view(A));
    const ordering order =
        o.method == "rcm" ? reverse_cuthill_mckee(graph) : metis_order(graph, o.blocks);
    all.order_s = seconds_since(start);
    const auto R = reordered(view(A), order);
    all.fault = fault_of([&] {
        if (!o.to.empty()) write<V>(o.to, view(R));
        if (!o.order_to.empty())
            write_vector<double>(o.order_to, host_vector<double>(order.begin(), order.end()));
    });
    clock.relabel("timing products with " + matrix_name(o.matrix));
    all.before.near = measure_nearness(view(A), o.blocks);
    all.after.near = measure_nearness(view(R), o.blocks);
    if (o.on_gpu()) {
        const gpu_stream stream;
        time_products<V, gpu>(stream, view(A), view(R), all);
        all.where = describe_gpu(stream).name;
    } else {
        time_products<V, cpu>(cpu{o.threads}, view(A), view(R), all);
        all.where = fmt::format("{} threads", thread_count(cpu{o.threads}));
    }
    return all;
}

nz::json to_json(const state& s) {
    return {{"bandwidth", s.near.bandwidth}, {"profile", s.near.profile},
            {"in_blocks", s.near.in_blocks}, {"product", s.product},
            {"product_s", s.time.median_s},  {"spread", s.time.spread}};
}

nz::json to_json(const reorder_arguments& o, const reorder_outcome& all) {
    nz::json j = provenance("reorder", o.on_gpu());
    j.update({{"matrix", matrix_name(o.matrix)},
              {"rows", all.shape.rows},
              {"nnz", all.nnz},
              {"method", o.method},
              {"blocks", o.blocks},
              {"order_s", all.order_s},
              {"device", o.device},
              {"where", all.where},
              {"before", to_json(all.before)},
              {"after", to_json(all.after)}});
    return j;
}

/// Whether the order helps the product, by more than the spread of its times.
std::string verdict(const timing& before, const timing& after) {
    const double times = after.median_s / before.median_s;
    const double doubt = 1 + std::max(before.spread, after.spread);
    if (times > doubt)
        return fmt::format("This order is worse: the product takes {:.2f} times as long.", times);
    if (times < 1 / doubt)
        return fmt::format("This order helps: the product is {:.2f} times as fast.", 1 / times);
    return "This order makes no difference to the product beyond the spread of its times.";
}

void print(const reorder_arguments& o, const reorder_outcome& all) {
    fmt::print("{}\n\n", verdict(all.before.time, all.after.time));
    fmt::print("{} x {}, {} nonzeros, ordered by {} in {}\n\n", all.shape.rows, all.shape.cols,
               all.nnz, o.method, text_of_time(all.order_s));
    const auto [a, b] = std::pair(all.before, all.after);
    table t({{"", false}, {"before"}, {"after"}});
    t.add_row(
        {"bandwidth", fmt::format("{}", a.near.bandwidth), fmt::format("{}", b.near.bandwidth)});
    t.add_row({"profile", fmt::format("{}", a.near.profile), fmt::format("{}", b.near.profile)});
    t.add_row({fmt::format("in {} diagonal blocks", o.blocks),
               fmt::format("{:.1f} %", 100 * a.near.in_blocks),
               fmt::format("{:.1f} %", 100 * b.near.in_blocks)});
    t.add_row({"product", a.product, b.product});
    t.add_row(
        {"time of it, " + all.where, text_of_time(a.time.median_s), text_of_time(b.time.median_s)});
    t.print();
    if (!o.to.empty() && all.fault == nullptr) fmt::print("\n{} written\n", o.to);
}

int reorder_as_type(const reorder_arguments& o) {
    check_device(o);
    if (o.method == "metis" && !why_no_metis().empty()) throw unavailable(why_no_metis());
    json_file json(o.json);
    expect_writable(o.to, matrix_endings);
    expect_writable(o.order_to, vector_endings);
    expect_one_to_stdout({o.to, o.order_to, o.json});
    if (inspect(o.matrix).field == field::complex && o.on_gpu())
        throw argument_error("--device gpu: complex values are multiplied on the CPU only");
    const bool is_real = inspect(o.matrix).field != field::complex;
    const reorder_outcome all = is_real ? reorder<double>(o) : reorder<std::complex<double>>(o);
    json.write(to_json(o, all));
    if (!json.is_stdout() && o.to != "-" && o.order_to != "-") print(o, all);
    throw_if(all.fault);
    return done;
}

}  // namespace

void add_reorder(const command& nz) {
    const auto sub =
        nz.add_subcommand("reorder", "Rows and columns in an order that helps, P A P^T");
    sub.footer(
        "rcm: reverse Cuthill-McKee, for a small bandwidth. metis: few entries outside of "
        "--blocks\n"
        "blocks on the diagonal.\n\n"
        "Example: nz reorder A.mtx --method rcm -o B.npz");
    const auto o = std::make_shared<reorder_arguments>();
    sub.add_option("matrix", o->matrix, matrix_help()).required();
    sub.add_option("--method", o->method, "method of ordering")
        .one_of({"metis", "rcm"})
        .shows_default();
    sub.add_option("--blocks", o->blocks,
                   "number of blocks on the diagonal that metis makes and that are counted")
        .number<int>({1, 1000000})
        .shows_default();
    sub.add_option("-o,--output", o->to,
                   "file for P A P^T: .mtx, .mtx.gz, .npz or .petsc; - for stdout")
        .type_name("FILE");
    sub.add_option("--order", o->order_to,
                   "file for the order: .mtx or .mtx.gz, or - for stdout; its k-th number is A's "
                   "row that becomes row k")
        .type_name("FILE");
    add_run_options(sub, *o);
    sub.does([o] { return reorder_as_type(*o); });
}

}  // namespace nz::cli
