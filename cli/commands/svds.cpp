// nz svds: the largest singular values of a matrix of any shape, and their vectors.
#include "nonzero/solve/least_squares/svds.hpp"
#include "nonzero/core/threads.hpp"

#include <fmt/core.h>

#include <chrono>
#include <ctime>
#include <memory>

#include "cli/command.hpp"
#include "cli/interruption.hpp"
#include "cli/ranks.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/search_progress.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/read_slice.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/solve/least_squares/planned_pair.hpp"

namespace nz::cli {
namespace {

struct svds_arguments : run_options {
    std::string matrix, vector_to;
    svds_options search;
    double tol = solve_options::default_tol<double>;
    bool share_gpu = false;
};

struct svds_outcome {
    svds_options::result<double> found;
    host_vector<double> first;  ///< the first right vector, whole, where it is to be written
    std::string product, where;
    nz::shape shape;
    std::size_t nnz = 0;
    double plan_s = 0;
    double cpu_s = 0;  ///< CPU time of all threads, from the plan to the last residual
};

/// The search, with a line of progress where somebody sees it.
template <class B>
svds_options::result<double> watched_search(B on, const linear_operator<double, B>& A,
                                            const svds_arguments& o) {
    return watched(o.search, o.tol, "values",
                   [&](const auto& with) { return svds<double, B>(on, A, with); });
}

template <class B>
svds_outcome search_on(B on, const svds_arguments& o, const csr<double, host_view>& A) {
    svds_outcome all;
    const std::clock_t began = std::clock();
    const auto start = std::chrono::steady_clock::now();
    const auto op = planned_pair(on, A);
    all.plan_s = seconds_since(start);
    all.found = watched_search(on, *op, o);
    all.cpu_s = double(std::clock() - began) / CLOCKS_PER_SEC;
    all.product = op->method_name();
    if (!o.vector_to.empty() && !all.found.values.empty()) {
        const auto v = all.found.right_vector(0);
        all.first.assign(v.begin(), v.end());
    }
    return all;
}

/// The same over several processes, each with its own rows.
template <class B>
svds_outcome search_on_ranks(const communicator& ranks, B on, const svds_arguments& o) {
    const auto A = read_slice<double>(ranks, o.matrix);
    svds_outcome all;
    all.shape = A.shape(), all.nnz = summed(ranks, A.own.val.size());
    const std::clock_t began = std::clock();
    const auto start = std::chrono::steady_clock::now();
    const distributed<double, B> op(on, A, {.expected_products = 200, .transposed = true});
    all.plan_s = seconds_since(start);
    all.found = watched_search(on, op, o);
    all.cpu_s = summed(ranks, double(std::clock() - began) / CLOCKS_PER_SEC);
    all.product = op.method_name();
    if (!o.vector_to.empty() && !all.found.values.empty())
        all.first = joined<double>(ranks, all.found.right_vector(0));
    return all;
}

svds_outcome search_on_ranks(const communicator& ranks, const svds_arguments& o) {
    if (o.on_gpu()) {
        const gpu_rank mine(ranks, o.share_gpu);
        auto all = search_on_ranks<gpu>(ranks, mine, o);
        all.where = place_of(ranks, mine);
        return all;
    }
    const cpu on{.threads = std::max(o.threads, 1), .ranks = &ranks};
    auto all = search_on_ranks(ranks, on, o);
    all.where = place_of(ranks, on);
    return all;
}

/// On one process.
svds_outcome search_alone(const svds_arguments& o) {
    const auto A = read_matrix<double>(o.matrix, o.threads);
    svds_outcome all;
    if (o.on_gpu()) {
        const gpu_stream stream;
        all = search_on<gpu>(stream, o, view(A));
        all.where = describe_gpu(stream).name;
    } else {
        all = search_on(cpu{o.threads}, o, view(A));
        all.where = fmt::format("{} threads", thread_count(cpu{o.threads}));
    }
    all.shape = A.shape, all.nnz = A.val.size();
    return all;
}

nz::json to_json(const svds_arguments& o, const svds_outcome& all) {
    const eigs_options::report& r = all.found.report;
    nz::json j = provenance("svds", o.on_gpu());
    j.update({{"matrix", matrix_name(o.matrix)},
              {"rows", all.shape.rows},
              {"cols", all.shape.cols},
              {"nnz", all.nnz},
              {"centred", o.search.centred},
              {"tol", o.tol},
              {"device", o.device},
              {"where", all.where},
              {"product", all.product},
              {"norm", r.norm},
              {"values", all.found.values},
              {"residuals", r.residuals},
              {"converged", r.converged},
              {"status", name_of(r.status)},
              {"why", r.why},
              {"products", r.products},
              {"restarts", r.restarts},
              {"plan_s", all.plan_s},
              {"search_s", r.seconds},
              {"cpu_s", all.cpu_s}});
    return j;
}

/// Tells why the vector may be wrong on stderr, and nothing else, where stdout takes the vector.
void print(const svds_arguments& o, const svds_outcome& all) {
    const eigs_options::report& r = all.found.report;
    if (o.vector_to == "-") {
        if (!r.converged) fmt::print(stderr, "nz: not converged: {}\n", r.why);
        return;
    }
    table t({{""}, {"singular value"}, {"residual / |A|"}});
    for (std::size_t k = 0; k < all.found.values.size(); ++k)
        t.add_row({fmt::format("{}", k + 1), fmt::format("{:.15g}", all.found.values[k]),
                   fmt::format("{:.2e}", r.residuals[k])});
    t.print();
    fmt::print("\nmatrix      {} x {}, {} nonzeros{}\n", all.shape.rows, all.shape.cols, all.nnz,
               o.search.centred ? ", columns centred" : "");
    fmt::print("product     {}, {}\n", all.product, all.where);
    fmt::print("setup       {:.3g} ms plan\n", all.plan_s * 1e3);
    fmt::print("search      {} products, {} restarts, {:.3g} ms\n", r.products, r.restarts,
               r.seconds * 1e3);
    fmt::print("converged   {}\n",
               r.converged ? fmt::format("yes, to {:g}", o.tol) : "no: " + r.why);
}

int search(const svds_arguments& o) {
    const communicator* const ranks = ranks_of_this_run();
    std::unique_ptr<json_file> json;
    agree(ranks, [&] {
        check_device(o);
        if (!is_speaker()) return;
        json = std::make_unique<json_file>(o.json);
        expect_writable(o.vector_to, vector_endings);
        expect_one_to_stdout({o.vector_to, o.json});
    });
    const svds_outcome all = ranks != nullptr ? search_on_ranks(*ranks, o) : search_alone(o);
    const int code = all.found.report.converged ? done : answer_is_no;
    if (!is_speaker()) return code;
    if (!all.first.empty()) write_vector<double>(o.vector_to, all.first);
    json->write(to_json(o, all));
    if (!json->is_stdout()) print(o, all);
    return interruption::happened() ? interrupted_exit : code;
}

}  // namespace

void add_svds(const command& nz) {
    const auto sub =
        nz.add_subcommand("svds", "The largest singular values of a matrix of any shape");
    sub.footer("Example: nz svds A.mtx -k 20");
    const auto o = std::make_shared<svds_arguments>();
    sub.add_option("matrix", o->matrix, matrix_help()).required();
    sub.add_option("-k,--count", o->search.count,
                   "number of singular values; all that there are where it is more")
        .number<int>({.least = 1})
        .shows_default();
    sub.add_flag("--centred", o->search.centred,
                 "take the means of the columns off: principal components");
    sub.add_option("--tol", o->tol, "tolerance of |A v - s u| / |A| and |A^T u - s v| / |A|")
        .number<double>({.least = 0})
        .shows_default();
    sub.add_option("--max-products", o->search.max_products,
                   "largest number of products with A, and as many with A^T")
        .number<std::int64_t>({.least = 0})
        .shows_default();
    sub.add_option("-o,--output", o->vector_to,
                   "file for the first right vector: .mtx or .mtx.gz, or - for stdout");
    add_run_options(sub, *o);
    add_share_gpu(sub, o->share_gpu);
    sub.does([o] { return search(*o); });
}

}  // namespace nz::cli
