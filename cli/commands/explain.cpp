// nz explain: which addresses the warps of a GPU kernel touch, and what that costs; without a GPU.
#include "cli/explain/explain.hpp"

#include <fmt/core.h>

#include <optional>

#include "cli/command.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/core/threads.hpp"

namespace nz::cli {
namespace {

constexpr std::string_view svg_ending[] = {".svg"};

std::string percent(double part) { return fmt::format("{:.0f}%", 100 * part); }

std::string count(std::int64_t n) { return text_of_number(double(n)); }

void print_figures(const traffic& of_warp, const explanation& e) {
    table t({{"", false},
             {"this warp:\nrequests"},
             {"sectors\na request"},
             {"all warps:\nrequests"},
             {"sectors\na request"},
             {"lanes\na request"},
             {"used of\nmoved"}});
    const auto add = [&](std::string name, const request_counts& w, const request_counts& a) {
        if (a.requests == 0) return;
        t.add_row({std::move(name), count(w.requests), fmt::format("{:.1f}", w.sectors_a_request()),
                   count(a.requests), fmt::format("{:.1f}", a.sectors_a_request()),
                   fmt::format("{:.1f}", a.lanes_a_request()), percent(a.used_of_moved())});
    };
    for (const array_role r : {array_role::columns, array_role::values, array_role::x,
                               array_role::structure, array_role::y})
        add(std::string(role_name(r)), of_warp.of(r), e.all.of(r));
    add("stores", of_warp.stores, e.all.stores);
    t.print_within(80);
}

void print_sentences(const explanation& e, const l1_model& m) {
    const double mean =
        double(e.all.requests()) / double(std::max(e.all.working_warps, std::int64_t(1)));
    fmt::print("\nwarps    {} launched, {} at work\n", count(e.all.warps),
               count(e.all.working_warps));
    fmt::print("         the busiest issues {:.1f} times the mean's {:.0f} requests\n",
               e.all.warp_imbalance(), mean);
    fmt::print("blocks   hold their warps {:.2f} times as long as these work\n",
               e.all.block_imbalance());
    fmt::print("matrix   {} stored, {:.2f} values loaded for each nonzero\n",
               text_of_bytes(double(e.layout_bytes)), e.places_a_nonzero());
    fmt::print("x        {} of its sectors hit L1, by a model:\n         {}\n",
               percent(e.l1.x_rate()), describe(m));
    fmt::print("bound by {}\n", what_binds(e, m));
}

nz::json to_json(const request_counts& c) {
    return {{"requests", c.requests},
            {"sectors", c.sectors},
            {"lanes", c.lanes},
            {"used_bytes", c.used_bytes},
            {"moved_bytes", c.moved_bytes()}};
}

nz::json to_json(const traffic& t) {
    nz::json j = {{"warps", t.warps},
                  {"working_warps", t.working_warps},
                  {"busiest_requests", t.busiest_requests},
                  {"warp_imbalance", t.warp_imbalance()},
                  {"block_imbalance", t.block_imbalance()},
                  {"loads", to_json(t.all_loads())},
                  {"stores", to_json(t.stores)}};
    for (std::size_t r = 0; r < array_roles; ++r)
        j["loads_of"][role_name(array_role(r))] = to_json(t.loads[r]);
    for (std::size_t w = 0; w < t.loads_by_width.size(); ++w)
        if (t.loads_by_width[w].requests > 0)
            j["loads_by_bytes"][std::to_string(1U << w)] = to_json(t.loads_by_width[w]);
    return j;
}

template <class V>
nz::json to_json(const explain_options& o, const csr<V, host_view>& A, const traffic& of_warp,
                 const warp_requests& picture, const explanation& e, const l1_model& m) {
    nz::json j = provenance("explain");
    j.update({{"matrix", matrix_name(o.matrix)},
              {"rows", A.shape.rows},
              {"cols", A.shape.cols},
              {"nnz", A.val.size()},
              {"value", value_name<V>()},
              {"method", e.method},
              {"layout_bytes", e.layout_bytes},
              {"all", to_json(e.all)},
              {"kernels", kernels_json(e)},
              {"l1_model",
               {{"bytes", m.bytes},
                {"multiprocessors", m.multiprocessors},
                {"resident_warps", m.resident_warps},
                {"hit_rate", e.l1.rate()},
                {"x_hit_rate", e.l1.x_rate()}}},
              {"bytes_beyond_l1", e.bytes_beyond_l1()},
              {"binds", what_binds(e, m)}});
    if (e.all.warps > 0) {
        j["warp"] = to_json(of_warp);
        j["warp"]["number"] = o.warp;
        j["warp"]["picture"] = to_json(picture);
    }
    return j;
}

std::string xml(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        const bool special = c == '<' || c == '>' || c == '&' || c == '"' || (c >= 0 && c < ' ');
        escaped += special ? fmt::format("&#{};", c < ' ' ? '?' : int(c)) : std::string(1, c);
    }
    return escaped;
}

void write_picture(const explain_options& o, const warp_requests& r, const std::string& title) {
    atomic_file file(o.picture);
    file.write(svg_picture(r, xml(title)));
    file.commit();
}

/// The trace of the method, or null after a sentence on why there is none.
template <class V>
std::unique_ptr<kernel_trace> trace_or_sentence(const std::string& name,
                                                const csr<V, host_view>& A) {
    const method<V>& m = find_method<V>(name);
    std::string why =
        m.exists_on_gpu ? m.cost(compute_stats(A)).declined : "does not run on the GPU";
    if (why.empty()) {
        if (auto t = trace_of<V>(name, A)) return t;
        why = "its kernel has no trace";
    }
    fmt::print(stderr, "nz: {}: {}\n", name, why);
    return nullptr;
}

/// The requests to draw, by default some for a terminal and more for a file.
warp_requests requests_to_draw(const explain_options& o, const kernel_trace& t) {
    constexpr int usual = 24, usual_in_file = 200;
    const int most = o.requests > 0 ? o.requests : o.picture.empty() ? usual : usual_in_file;
    return t.warps() > 0 ? requests_of(t, o.warp, std::size_t(most)) : warp_requests{};
}

template <class V>
int explain_one(const explain_options& o, const csr<V, host_view>& A) {
    const auto t = trace_or_sentence<V>(o.method, A);
    if (t == nullptr) return answer_is_no;
    const std::int64_t warps = t->warps();
    const std::string name = matrix_name(o.matrix) + ", " + o.method;
    if (o.warp > 0 && o.warp >= warps)
        throw argument_error(fmt::format("--warp {}: {} launches {} warps", o.warp, name, warps));
    const std::string title = name + (warps == 0 ? ": no warp"
                                                 : fmt::format(": warp {} of {} ({})", o.warp,
                                                               warps, place_of(*t, o.warp)));
    json_file json(o.json);
    const warp_requests picture = requests_to_draw(o, *t);
    if (!o.picture.empty()) write_picture(o, picture, title);

    const traffic of_warp = warps > 0 ? traffic_of_warp(*t, o.warp) : traffic{};
    const l1_model l1 = l1_model::of(gpu_to_explain(o.gpu));
    std::optional<running_clock> clock(std::in_place, "counting " + name);
    const explanation e = explain(*t, std::int64_t(A.val.size()), l1, o.threads);
    clock.reset();
    json.write(to_json(o, A, of_warp, picture, e, l1));
    if (json.is_stdout() || o.picture == "-") return done;
    fmt::print("{}\n\n", title);
    if (warps > 0 && o.picture.empty()) print_picture(picture), fmt::print("\n");
    print_figures(of_warp, e);
    print_sentences(e, l1);
    return done;
}

template <class V>
int explain_as(const explain_options& o) {
    if (!o.method.empty()) (void)find_method<V>(o.method);  // as early
    if (o.once) require_gpu(gpu{});
    const auto own = read_matrix<V>(o.matrix, o.threads);
    if (o.once) return explain_once<V>(o, view(own));
    return o.method.empty() ? explain_all<V>(o, view(own)) : explain_one<V>(o, view(own));
}

int explain_matrix(const explain_options& o) {
    expect_writable(o.picture, svg_ending);
    expect_one_to_stdout({o.picture, o.json});
    (void)json_file(o.json);      // before an hour of reading
    (void)gpu_to_explain(o.gpu);  // as early
    const bool draws = !o.method.empty() && !o.once;
    if (!draws && (!o.picture.empty() || o.warp != 0 || o.requests != 0))
        throw argument_error("-o, --warp and --requests apply to one --method, without --once");
    return o.type == "float" ? explain_as<float>(o) : explain_as<double>(o);
}

}  // namespace

std::string place_of(const kernel_trace& t, std::int64_t warp) {
    for (const warp_grid& g : t.grids()) {
        if (warp < g.warps)
            return fmt::format("{}, block {}, warp {}", g.kernel, warp / g.warps_per_block,
                               warp % g.warps_per_block);
        warp -= g.warps;
    }
    return {};
}

nz::json kernels_json(const explanation& e) {
    nz::json all = nz::json::array();
    for (const kernel_traffic& k : e.kernels) {
        all.push_back(to_json(k.of));
        all.back()["kernel"] = k.kernel;
    }
    return all;
}

void add_explain(const command& nz) {
    const auto sub = nz.add_subcommand(
        "explain", "Loads of a GPU kernel's warps, and its bottleneck; needs no GPU");
    sub.footer(
        "Without --method: a table over all kernels. docs/explain.md says how to read it.\n\n"
        "Example: nz explain A.mtx --method ell.row --warp 3 -o warp.svg");
    const auto o = std::make_shared<explain_options>();
    o->type = "double";
    sub.add_option("matrix", o->matrix, matrix_help()).required();
    sub.add_option("--method", o->method, "method, one of `nz methods` (default: all)");
    sub.add_flag("--once", o->once,
                 "multiply once with each kernel on the GPU, for a profiler to count");
    sub.add_option("--warp", o->warp, "number of the warp that is drawn")
        .number<std::int64_t>({.least = 0})
        .shows_default();
    sub.add_option("--requests", o->requests,
                   "requests that are drawn (default: 24, in a file 200)")
        .number<int>({1, 10'000});
    sub.add_option("--gpu", o->gpu,
                   "GPU to predict for: what nz machine --json wrote there (default: this\n"
                   "machine's, or an H200)")
        .type_name("FILE");
    sub.add_option("-o,--output", o->picture, "file for the picture: .svg, or - for stdout")
        .type_name("FILE");
    sub.add_option("--type", o->type, "type of the values")
        .one_of({"float", "double"})
        .shows_default();
    sub.add_option("--threads", o->threads, "number of threads (default: all)")
        .number<int>({1, max_threads});
    add_wide_option(sub);
    add_json_option(sub, o->json);
    sub.does([o] { return explain_matrix(*o); });
}

}  // namespace nz::cli
