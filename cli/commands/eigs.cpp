// nz eigs: a few eigenpairs at an end of a symmetric matrix's spectrum, or at both.
#include "nonzero/solve/eigs/eigs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>

#include "cli/command.hpp"
#include "cli/convergence.hpp"
#include "cli/interruption.hpp"
#include "cli/ranks.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/search_progress.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/dist/read_slice.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz::cli {
namespace {

struct eigs_arguments : run_options {
    std::string matrix, vector_to, preconditioner, which = "magnitude";
    eigs_options search;
    double tol = solve_options::default_tol<double>;
    bool share_gpu = false;
};

/// The ends by their names, as --which has them.
const std::map<std::string, eigs_options::ends>& ends() {
    using enum eigs_options::ends;
    static const std::map<std::string, eigs_options::ends> all = {
        {"both", both}, {"largest", largest}, {"magnitude", magnitude}, {"smallest", smallest}};
    return all;
}

/// "6 largest eigenvalues", "6 eigenvalues of largest magnitude".
std::string text_of_pairs(const std::string& which, std::size_t count) {
    const std::string values = count == 1 ? "eigenvalue" : "eigenvalues";
    if (which == "magnitude") return fmt::format("{} {} of largest magnitude", count, values);
    if (which == "both") return fmt::format("{} {}, half of them from each end", count, values);
    return fmt::format("{} {} {}", count, which, values);
}

struct eigs_outcome {
    eigs_options::result<double> pairs;
    host_vector<double> first;  ///< the first eigenvector, whole, where it is to be written
    std::string product, where;
    nz::shape shape;
    std::size_t nnz = 0;
    double plan_s = 0, preconditioner_s = 0;
    double cpu_s = 0;  ///< CPU time of all threads, from the plan to the last residual
};

/// The search, with a line of progress where somebody sees it.
template <class B>
eigs_options::result<double> watched_search(B on, const linear_operator<double, B>& A,
                                            const eigs_arguments& o,
                                            const linear_operator<double, B>* M) {
    return watched(o.search, o.tol, "pairs",
                   [&](const auto& with) { return eigs<double, B>(on, A, with, M); });
}

template <class B>
eigs_outcome search_on(B on, const eigs_arguments& o, const csr<double, host_view>& A) {
    eigs_outcome all;
    const std::clock_t began = std::clock();
    auto start = std::chrono::steady_clock::now();
    const auto op = plan_and_build(A, on).op;
    all.plan_s = seconds_since(start);
    start = std::chrono::steady_clock::now();
    std::unique_ptr<linear_operator<double, B>> M;
    if (o.preconditioner == "amg")
        M = std::make_unique<amg<double, B>>(A, on, amg_options{.check = false},
                                             candidates<double>{}, op.get());
    all.preconditioner_s = seconds_since(start);
    all.pairs = watched_search(on, *op, o, M.get());
    all.cpu_s = double(std::clock() - began) / CLOCKS_PER_SEC;
    all.product = op->method_name();
    if (!o.vector_to.empty() && !all.pairs.values.empty()) {
        const auto v = all.pairs.vector(0);
        all.first.assign(v.begin(), v.end());
    }
    return all;
}

/// Whether A may have the preconditioner amg, as far as its diagonal tells. Called by all ranks.
bool has_positive_diagonal(const communicator& ranks, const matrix_slice<double>& A) {
    const auto diagonal = diagonal_of(view(own_block(A, ranks.rank())));
    return on_all(&ranks, std::ranges::all_of(diagonal, [](double d) { return d > 0; }));
}

/// The same over several processes, each with its own rows. Throws unsuitable on all ranks.
template <class B>
eigs_outcome search_on_ranks(const communicator& ranks, B on, eigs_arguments& o) {
    const auto A = read_slice<double>(ranks, o.matrix);
    eigs_outcome all;
    all.shape = A.shape(), all.nnz = summed(ranks, A.own.val.size());
    if (const auto why = why_not_symmetric(ranks, A); !why.empty()) throw unsuitable(why);
    const bool is_positive = has_positive_diagonal(ranks, A);
    if (o.preconditioner == "amg" && !is_positive) throw unsuitable("A's diagonal is not positive");
    if (o.preconditioner.empty())
        o.preconditioner = o.which == "smallest" && is_positive ? "amg" : "none";
    const std::clock_t began = std::clock();
    auto start = std::chrono::steady_clock::now();
    const distributed<double, B> op(on, A);
    all.plan_s = seconds_since(start);
    start = std::chrono::steady_clock::now();
    std::unique_ptr<linear_operator<double, B>> M;
    if (o.preconditioner == "amg")
        M = std::make_unique<amg<double, B>>(on, A, amg_options{.check = false},
                                             candidates<double>{}, &op);
    all.preconditioner_s = seconds_since(start);
    all.pairs = watched_search(on, op, o, M.get());
    all.cpu_s = summed(ranks, double(std::clock() - began) / CLOCKS_PER_SEC);
    all.product = op.method_name();
    if (!o.vector_to.empty() && !all.pairs.values.empty())
        all.first = joined<double>(ranks, all.pairs.vector(0));
    return all;
}

eigs_outcome search_on_ranks(const communicator& ranks, eigs_arguments& o) {
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

nz::json to_json(const eigs_arguments& o, const eigs_outcome& all) {
    const eigs_options::report& r = all.pairs.report;
    nz::json j = provenance("eigs", o.on_gpu());
    j.update({{"matrix", matrix_name(o.matrix)},
              {"rows", all.shape.rows},
              {"nnz", all.nnz},
              {"which", o.which},
              {"tol", o.tol},
              {"preconditioner", o.preconditioner},
              {"device", o.device},
              {"where", all.where},
              {"product", all.product},
              {"norm", r.norm},
              {"values", all.pairs.values},
              {"residuals", r.residuals},
              {"converged", r.converged},
              {"status", name_of(r.status)},
              {"why", r.why},
              {"products", r.products},
              {"restarts", r.restarts},
              {"plan_s", all.plan_s},
              {"preconditioner_s", all.preconditioner_s},
              {"search_s", r.seconds},
              {"cpu_s", all.cpu_s}});
    return j;
}

/// Tells why the vector may be wrong on stderr, and nothing else, where stdout takes the vector.
void print(const eigs_arguments& o, const eigs_outcome& all) {
    const eigs_options::report& r = all.pairs.report;
    if (o.vector_to == "-") {
        if (!r.converged) fmt::print(stderr, "nz: not converged: {}\n", by_options(r.why));
        return;
    }
    fmt::print("{}\n\n", text_of_pairs(o.which, all.pairs.values.size()));
    table t({{""}, {"eigenvalue"}, {"|A x - theta x| / |A|"}});
    for (std::size_t k = 0; k < all.pairs.values.size(); ++k)
        t.add_row({fmt::format("{}", k + 1), fmt::format("{:.15g}", all.pairs.values[k]),
                   fmt::format("{:.2e}", r.residuals[k])});
    t.print();
    fmt::print("\nmatrix      {} x {}, {} nonzeros\n", all.shape.rows, all.shape.cols, all.nnz);
    fmt::print("product     {}, {}, preconditioner {}\n", all.product, all.where, o.preconditioner);
    fmt::print("setup       {} plan, {} preconditioner\n", text_of_time(all.plan_s),
               text_of_time(all.preconditioner_s));
    fmt::print("search      {} products, {} restarts, {}\n", r.products, r.restarts,
               text_of_time(r.seconds));
    fmt::print("converged   {}\n",
               r.converged ? fmt::format("yes, to {:g}", o.tol) : "no: " + by_options(r.why));
}

/// On one process. Throws unsuitable.
eigs_outcome search_alone(eigs_arguments& o) {
    const auto A = read_matrix<double>(o.matrix, o.threads);
    std::string why = why_not_symmetric(view(A));
    const std::string indefinite = why.empty() ? why_not_definite(view(A)) : "";
    if (o.preconditioner == "amg") why = why.empty() ? indefinite : why;
    if (!why.empty()) throw unsuitable(why);
    if (o.preconditioner.empty())
        o.preconditioner = o.which == "smallest" && indefinite.empty() ? "amg" : "none";
    eigs_outcome all;
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

int search(eigs_arguments o) {
    const communicator* const ranks = ranks_of_this_run();
    std::unique_ptr<json_file> json;
    agree(ranks, [&] {
        check_device(o);
        if (!is_speaker()) return;
        json = std::make_unique<json_file>(o.json);
        expect_writable(o.vector_to, vector_endings);
        expect_one_to_stdout({o.vector_to, o.json});
    });
    o.search.which = ends().at(o.which);
    eigs_outcome all;
    try {
        all = ranks != nullptr ? search_on_ranks(*ranks, o) : search_alone(o);
    } catch (const unsuitable& e) {  // on all ranks
        if (is_speaker()) fmt::print(stderr, "nz: {}\n", e.what());
        return answer_is_no;
    }
    const int code = all.pairs.report.converged ? done : answer_is_no;
    if (!is_speaker()) return code;
    if (!all.first.empty()) write_vector<double>(o.vector_to, all.first);
    json->write(to_json(o, all));
    if (!json->is_stdout()) print(o, all);
    return interruption::happened() ? interrupted_exit : code;
}

}  // namespace

void add_eigs(const command& nz) {
    const auto sub = nz.add_subcommand("eigs", "A few eigenpairs of a symmetric matrix");
    sub.footer("Example: nz eigs A.mtx -k 6 --which smallest");
    const auto o = std::make_shared<eigs_arguments>();
    sub.add_option("matrix", o->matrix, matrix_help()).required();
    sub.add_option("-k,--count", o->search.count, "number of eigenpairs")
        .number<int>({1, 50})
        .shows_default();
    sub.add_option("--which", o->which,
                   "which eigenvalues: largest or smallest, largest in magnitude, or half of them "
                   "from both ends")
        .one_of({"magnitude", "largest", "smallest", "both"})
        .shows_default();
    sub.add_option("--tol", o->tol, "tolerance of |A x - theta x| / |A|")
        .number<double>({.least = 0})
        .shows_default();
    sub.add_option("--max-products", o->search.max_products, "largest number of products")
        .number<std::int64_t>({.least = 0})
        .shows_default();
    sub.add_option("--precond", o->preconditioner,
                   "preconditioner (default: amg for the smallest where the diagonal is positive, "
                   "else none)")
        .one_of({"amg", "none"});
    sub.add_option("-o,--output", o->vector_to,
                   "file for the first eigenvector: .mtx or .mtx.gz, or - for stdout")
        .type_name("FILE");
    add_run_options(sub, *o);
    add_share_gpu(sub, o->share_gpu);
    sub.does([o] { return search(*o); });
}

}  // namespace nz::cli
