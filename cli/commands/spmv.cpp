// nz spmv: one product, y = alpha op(A) x + beta y, from files to a file.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/rank_memory.hpp"
#include "cli/ranks.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/gpu/gpu_ranks.hpp"
#include "nonzero/dist/read_slice.hpp"
#include "nonzero/dist/same_speeds.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/plan/gpu_machine.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/plan/timing/measure.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz::cli {
namespace {

struct spmv_arguments {
    std::string matrix, x, y0, to, method, type, device = "cpu", json;
    std::string alpha = "1", beta = "0";
    bool transpose = false, conjugate_transpose = false, share_gpu = false;
    int threads = 0;

    [[nodiscard]] bool on_gpu() const { return device == "gpu"; }
    /// Whether somebody reads how long a product takes.
    [[nodiscard]] bool times() const { return to != "-" || !json.empty(); }
    [[nodiscard]] transposition how() const {
        return conjugate_transpose ? transposition::conjugate_transpose
               : transpose         ? transposition::transpose
                                   : transposition::plain;
    }
};

/// "2.5" or, for complex values, "2.5,-1". Throws argument_error.
template <class V>
V parse_coefficient(const char* name, const std::string& text) {
    const char *at = text.data(), *const end = at + text.size();
    double part[2] = {0, 0};
    int parts = 0;
    for (bool more = true; more; ++parts) {
        const auto [stop, fault] = std::from_chars(at, end, part[parts]);
        more = stop != end;
        if (fault != std::errc{} || (more && (parts == 1 || !is_complex<V> || *stop != ',')))
            throw argument_error(fmt::format("{}: '{}' is no {} number", name, text,
                                             is_complex<V> ? "complex (re or re,im)" : "real"));
        at = stop + 1;
    }
    if constexpr (is_complex<V>) {
        return {real<V>(part[0]), real<V>(part[1])};
    } else {
        return V(part[0]);
    }
}

template <class V>
host_vector<V> vector_or(const std::string& path, std::size_t len, V otherwise) {
    return path.empty() ? host_vector<V>(len, otherwise) : read_vector<V>(path);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds that f takes: the fastest of at least three runs and of a tenth of a second.
template <class F>
double fastest(F f) {
    double best = 1e300, total = 0;
    for (int run = 0; run < 3 || (total < 0.1 && run < 1000); ++run) {
        const auto start = std::chrono::steady_clock::now();
        f();
        const double s = seconds_since(start);
        best = std::min(best, s), total += s;
    }
    return best;
}

template <class V>
double norm(const host_vector<V>& y) {
    double sum = 0;
    for (const V& v : y) sum += double(std::norm(v));
    return std::sqrt(sum);
}

/// Times of a product and of its setup, and where it ran. [s]
struct measured {
    double setup_s, product_s;
    std::string method, where;
    memory_of_ranks memory = {};  ///< empty where there is one process
};

/// The names of the methods that may be taken: the one asked for, or all that have this product.
template <class V, class B>
std::vector<std::string> usable_methods(const spmv_arguments& o) {
    if (!o.method.empty()) return {std::string(find_method<V>(o.method).name)};
    std::vector<std::string> those;
    for (const method<V>& k : methods<V>()) {
        const bool transposes = std::is_same_v<B, cpu> || k.transposed_on_gpu;
        if (o.how() == transposition::plain || transposes) those.emplace_back(k.name);
    }
    return those;
}

/// Of that method, or of the one that the planner chooses among those that can multiply so.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> operator_of(const spmv_arguments& o, const method<V>* m,
                                                   B on, const csr<V, host_view>& A) {
    if (m != nullptr) return build(*m, on, A);
    return plan_and_build(A, on, {.methods = usable_methods<V, B>(o)}).op;
}

/// y = alpha op(A) x + beta y on the CPU; the time, unless nobody will read it, of further
/// products.
template <class V>
measured multiply_on_cpu(const spmv_arguments& o, const method<V>* m, const csr<V, host_view>& A,
                         V alpha, const host_vector<V>& x, V beta, host_vector<V>& y) {
    const auto start = std::chrono::steady_clock::now();
    const auto op = operator_of(o, m, cpu{o.threads}, A);
    const double setup_s = seconds_since(start);
    op->apply_transposed(o.how(), alpha, x, beta, y);
    auto scratch = y;
    const auto product = [&] { op->apply_transposed(o.how(), alpha, x, V(0), scratch); };
    return {setup_s, o.times() ? fastest(product) : 0, std::string(op->method_name()),
            fmt::format("{} threads", thread_count(cpu{o.threads}))};
}

/// The same on the GPU, with events for a clock.
template <class V>
measured multiply_on_gpu(const spmv_arguments& o, const method<V>* m, const csr<V, host_view>& A,
                         V alpha, const host_vector<V>& x, V beta, host_vector<V>& y) {
    const gpu_stream stream;
    const gpu on = stream;
    const auto start = std::chrono::steady_clock::now();
    const auto op = operator_of(o, m, on, A);
    synchronize(on);
    const double setup_s = seconds_since(start);
    const auto x_on_device = to_device<V>(on, x);
    auto y_on_device = to_device<V>(on, y);
    op->apply_transposed(o.how(), alpha, x_on_device, beta, y_on_device);
    y = to_host<V>(on, y_on_device);
    const timed_runs product = [&](std::int64_t runs) {
        gpu_event first, last;
        first.record(on);
        for (std::int64_t k = 0; k < runs; ++k)
            op->apply_transposed(o.how(), alpha, x_on_device, V(0), y_on_device);
        last.record(on);
        return last.seconds_since(first);
    };
    const double s =
        o.times() ? time_interleaved(std::span(&product, 1), {.seconds = 0.1})[0].min_s : 0;
    return {setup_s, s, std::string(op->method_name()), describe_gpu(on).name};
}

nz::json to_json(const spmv_arguments& o, const measured& t, nz::shape shape, std::size_t nnz,
                 double norm_of_y) {
    nz::json j = provenance("spmv", o.on_gpu());
    j.update({{"matrix", matrix_name(o.matrix)},
              {"rows", shape.rows},
              {"cols", shape.cols},
              {"nnz", nnz},
              {"type", o.type},
              {"device", o.device},
              {"method", t.method},
              {"where", t.where},
              {"setup_s", t.setup_s},
              {"product_s", t.product_s},
              {"norm_of_y", norm_of_y}});
    if (!t.memory.empty()) j["memory"] = to_json(t.memory);
    return j;
}

template <class V>
void print(const measured& t, nz::shape shape, std::size_t nnz, double norm_of_y) {
    const double flops = double(nnz) * (is_complex<V> ? 8 : 2);
    fmt::print("|y|_2    {:.15g}\n", norm_of_y);
    fmt::print("matrix   {} x {}, {} nonzeros, {}\n", shape.rows, shape.cols, nnz,
               type_option<V>());
    fmt::print("method   {}, {}, set up in {}\n", t.method, t.where, text_of_time(t.setup_s));
    fmt::print("product  {}, {} GFLOP/s\n", text_of_time(t.product_s),
               text_of_number(flops / t.product_s * 1e-9));
    if (!t.memory.empty()) fmt::print("memory   {}\n", to_text(t.memory));
}

/// Writes y, then what the options ask for of the report.
template <class V>
void tell(const spmv_arguments& o, json_file& json, const measured& t, nz::shape shape,
          std::size_t nnz, double norm_of_y, const host_vector<V>& y) {
    const auto fault = fault_of([&] {
        if (!o.to.empty()) write_vector<V>(o.to, y);
    });
    json.write(to_json(o, t, shape, nnz, norm_of_y));
    if (o.to != "-" && !json.is_stdout()) print<V>(t, shape, nnz, norm_of_y);
    throw_if(fault);
}

template <class V>
int multiply(const spmv_arguments& o, json_file& json) {
    const V alpha = parse_coefficient<V>("--alpha", o.alpha);
    const V beta = parse_coefficient<V>("--beta", o.beta);
    const method<V>* const m = o.method.empty() ? nullptr : &find_method<V>(o.method);
    if (o.on_gpu()) {
        if (o.threads != 0) throw argument_error("--threads applies to --device cpu only");
        require_gpu(gpu{});
    }
    const auto own = read_matrix<V>(o.matrix, o.threads);
    const auto A = view(own);
    if (m != nullptr) {
        const bool has_kernel = o.on_gpu() ? m->on_gpu != nullptr : m->on_cpu != nullptr;
        const matrix_stats stats = compute_stats(A);
        const std::string why =
            !has_kernel  ? "does not run on the " + std::string(o.on_gpu() ? "GPU" : "CPU")
            : o.on_gpu() ? m->cost_on_gpu(stats).declined
                         : m->cost(stats).declined;
        if (!why.empty()) {
            fmt::print(stderr, "nz: {}: {}\n", m->name, why);
            return answer_is_no;
        }
    }

    const bool swap = o.how() != transposition::plain;
    const auto x = vector_or<V>(o.x, std::size_t(swap ? A.shape.rows : A.shape.cols), V(1));
    auto y = vector_or<V>(o.y0, std::size_t(swap ? A.shape.cols : A.shape.rows), V(0));
    const auto run = o.on_gpu() ? multiply_on_gpu<V> : multiply_on_cpu<V>;
    std::optional<running_clock> clock(std::in_place, "multiplying " + matrix_name(o.matrix));
    const measured t = run(o, m, A, alpha, x, beta, y);
    clock.reset();
    tell<V>(o, json, t, A.shape, A.val.size(), norm(y), y);
    return done;
}

/// A vector shared out over ranks, or `otherwise` throughout.
template <class V>
host_vector<V> slice_or(const communicator& ranks, const std::string& path, const shares& all,
                        V otherwise) {
    return path.empty() ? host_vector<V>(std::size_t(all.count(ranks.rank())), otherwise)
                        : read_vector_slice<V>(ranks, path, all);
}

/// The fastest of several products, each as long as the slowest rank takes.
template <class F>
double fastest_on_ranks(const communicator& ranks, F f) {
    double best = 1e300, total = 0;
    for (int run = 0; run < 3 || (total < 0.1 && run < 1000); ++run) {
        (void)on_all(&ranks, true);  // all begin at once
        const auto start = std::chrono::steady_clock::now();
        f();
        const auto all = gathered(ranks, seconds_since(start));
        const double s = *std::max_element(all.begin(), all.end());
        best = std::min(best, s), total += s;
    }
    return best;
}

/// The same over several processes, each with its own rows.
template <class V, class B>
int multiply_on_ranks(const spmv_arguments& o, const communicator& ranks, B on,
                      const std::string& where, json_file* json) {
    V alpha{}, beta{};
    plan_options planning;
    agree(&ranks, [&] {
        alpha = parse_coefficient<V>("--alpha", o.alpha);
        beta = parse_coefficient<V>("--beta", o.beta);
        planning.methods = usable_methods<V, B>(o);
    });
    memory_watch watch;
    auto slice = read_slice<V>(ranks, o.matrix);
    const double share = share_bytes(slice, ranks.rank());
    B alone = on;
    alone.ranks = nullptr;
    watch.leave_out([&] { planning = with_same_speeds(alone, ranks, planning); });
    const std::size_t nnz = summed(ranks, slice.own.val.size());
    const auto start = std::chrono::steady_clock::now();
    const distributed<V, B> A(on, std::move(slice), planning);
    const double setup_s = seconds_since(start);
    const bool plain = o.how() == transposition::plain;
    const auto x = slice_or<V>(ranks, o.x, plain ? A.cols() : A.rows(), V(1));
    auto y = slice_or<V>(ranks, o.y0, plain ? A.rows() : A.cols(), V(0));
    vector<V, B> x_there, y_there;
    agree(&ranks, [&] { x_there = from_host<V>(on, x), y_there = from_host<V>(on, y); });
    A.apply_transposed(o.how(), alpha, x_there, beta, y_there);
    y = to_host<V>(on, in<V, B>(y_there));
    const auto product = [&] {
        A.apply_transposed(o.how(), alpha, x_there, V(0), y_there);
        if constexpr (std::is_same_v<B, gpu>) synchronize(on);
    };
    const double product_s = o.times() ? fastest_on_ranks(ranks, product) : 0;
    const cpu here{.threads = std::max(o.threads, 1), .ranks = &ranks};
    const double norm_of_y = vector_space<V, cpu>(here, std::int64_t(y.size())).norm(y);
    const auto memory = gathered_memory(ranks, watch, share);
    const auto whole = o.to.empty() ? host_vector<V>() : joined<V>(ranks, y);
    if (json == nullptr) return done;
    tell<V>(o, *json, {setup_s, product_s, std::string(A.local().method_name()), where, memory},
            A.global_shape(), nnz, norm_of_y, whole);
    return done;
}

template <class V>
int multiply_on_ranks(const spmv_arguments& o, const communicator& ranks, json_file* json) {
    if constexpr (std::floating_point<V>) {
        if (o.on_gpu()) {
            const gpu_rank mine(ranks, o.share_gpu);
            return multiply_on_ranks<V, gpu>(o, ranks, mine, place_of(ranks, mine), json);
        }
    }
    const cpu on{.threads = std::max(o.threads, 1), .ranks = &ranks};
    return multiply_on_ranks<V, cpu>(o, ranks, on, place_of(ranks, on), json);
}

int multiply_as_type(spmv_arguments o) {
    const communicator* const ranks = ranks_of_this_run();
    std::unique_ptr<json_file> json;  // of the process that prints
    agree(ranks, [&] {
        if (is_speaker()) {
            expect_writable(o.to, vector_endings);
            expect_one_to_stdout({o.to, o.json});
            json = std::make_unique<json_file>(o.json);
        }
        if (o.type.empty()) o.type = type_of_file(o.matrix);
        if (ranks != nullptr && o.on_gpu() && o.type.starts_with('c'))
            throw unavailable(
                "--device gpu: several processes multiply complex values on CPUs only");
    });
    return with_value_type(o.type, [&]<class V>() {
        return ranks != nullptr ? multiply_on_ranks<V>(o, *ranks, json.get())
                                : multiply<V>(o, *json);
    });
}

}  // namespace

void add_spmv(const command& nz) {
    const auto sub = nz.add_subcommand("spmv", "One product, y = alpha op(A) x + beta y");
    sub.footer("Example: nz spmv A.mtx -x x.mtx -o y.mtx --method ell.row --alpha 2");
    const auto o = std::make_shared<spmv_arguments>();
    sub.add_option("matrix", o->matrix, matrix_help()).required();
    sub.add_option("-x", o->x, "Matrix Market vector (default: ones)").type_name("FILE");
    sub.add_option("-y", o->y0, "y before the product, which --beta scales (default: zeros)")
        .type_name("FILE");
    sub.add_option("-o,--output", o->to, "file for y: .mtx or .mtx.gz, or - for stdout")
        .type_name("FILE");
    sub.add_option("--method", o->method,
                   "method, one of `nz methods` (default: what `nz plan` chooses)");
    sub.add_option("--device", o->device, "device that multiplies")
        .one_of({"cpu", "gpu"})
        .shows_default();
    add_share_gpu(sub, o->share_gpu);
    sub.add_option("--alpha", o->alpha, "factor of A x: re, or re,im for complex types")
        .shows_default();
    sub.add_option("--beta", o->beta, "factor of y: the same").shows_default();
    const auto t = sub.add_flag("--transpose", o->transpose, "multiply with A^T");
    sub.add_flag("--conjugate-transpose", o->conjugate_transpose, "multiply with A^H").excludes(t);
    add_type_of_file_option(sub, o->type);
    sub.add_option("--threads", o->threads, "number of threads (default: all)")
        .number<int>({1, max_threads});
    add_json_option(sub, o->json);
    sub.does([o] { return multiply_as_type(*o); });
}

}  // namespace nz::cli
