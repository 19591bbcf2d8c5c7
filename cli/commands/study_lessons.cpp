#include "cli/commands/study_lessons.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <map>

#include "cli/conditions/quiet.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/threads.hpp"

namespace nz::cli {
namespace {

constexpr const char* plain_method = "csr.static";

double mean_row(const matrix_stats& s) { return double(s.nnz) / double(s.rows); }

/// The matrix' row lengths in words and numbers. The words only name the numbers beside them.
std::string text_of_rows(const matrix_stats& s) {
    constexpr double very_different = 10, similar = 2;
    if (s.min_row_nnz() == s.max_row_nnz())
        return fmt::format("every row has {} {}", s.max_row_nnz(),
                           s.max_row_nnz() == 1 ? "entry" : "entries");
    const double longest = double(s.max_row_nnz()) / mean_row(s);
    return fmt::format("rows of {} ({} to {} entries, {:.1f} in the mean)",
                       longest >= very_different ? "very different lengths"
                       : longest <= similar      ? "similar lengths"
                                                 : "different lengths",
                       s.min_row_nnz(), s.max_row_nnz(), mean_row(s));
}

/// The stat that decides how well the layout suits, as text; empty where there is none.
std::string text_of_layout(std::string_view layout, const matrix_stats& s) {
    const auto groups = [&](std::int64_t width) {
        return fmt::format("{:.2f} places for each entry in groups of {} rows",
                           double(width) * double(matrix_stats::groups[1]) / double(s.nnz),
                           matrix_stats::groups[1]);
    };
    if (layout == "dia") return fmt::format("all entries lie on {} diagonals", s.diagonals);
    if (layout == "ell")
        return fmt::format("{:.2f} places for each entry",
                           double(s.max_row_nnz()) * double(s.rows) / double(s.nnz));
    if (layout == "hll") return groups(s.group_width[1]);
    if (layout == "sell") return groups(s.sorted_group_width) + " sorted by length";
    if (layout == "csr" || layout == "coo")
        return fmt::format("the heaviest sixteenth of the rows has {:.2f} times the mean's entries",
                           s.row_imbalance);
    return {};
}

/// Bytes of the layout's arrays for each entry, beside those of CSR.
std::string text_of_bytes(const benchmark_result& t, const benchmark_result* csr,
                          std::int64_t nnz) {
    if (csr == nullptr || layout_of(t.method) == "csr") return {};
    return fmt::format("{} reads {:.1f} bytes for each entry, csr {:.1f}", layout_of(t.method),
                       t.matrix_bytes / double(nnz), csr->matrix_bytes / double(nnz));
}

/// Why one thread did better than several, in numbers.
std::string text_of_threads(const benchmark_result& t, const benchmark_result* parallel) {
    if (t.threads > 1 || parallel == nullptr || parallel->threads == 1) return {};
    return fmt::format("a product takes {:.0f} us on one thread, {:.0f} us at best on {}",
                       t.time.median_s * 1e6, parallel->time.median_s * 1e6, parallel->threads);
}

std::string why(const lesson& l, const benchmark_result* parallel) {
    const matrix_result& A = *l.matrix;
    const benchmark_result& t = *l.fastest;
    if (A.nnz == 0) return "it has no entries";
    std::string text;
    for (const std::string& part :
         {text_of_rows(A.stats), text_of_layout(layout_of(t.method), A.stats),
          text_of_bytes(t, l.plain, A.nnz), text_of_threads(t, parallel)})
        if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
    return text;
}

std::string percent(double share) { return share > 0 ? fmt::format("{:.0f}%", share * 100) : "-"; }

/// exp of the mean logarithm of those above 0; 0 where none is.
double geometric_mean(std::span<const double> ratios) {
    double sum = 0;
    int count = 0;
    for (const double r : ratios)
        if (r > 0) sum += std::log(r), ++count;
    return count == 0 ? 0 : std::exp(sum / count);
}

void print_means(std::span<const lesson> lessons) {
    std::map<std::string, int> wins;
    std::vector<double> fastest, classic, planned;
    for (const lesson& l : lessons) {
        ++wins[l.fastest->method];
        fastest.push_back(lesson::ratio(l.fastest, l.plain));
        classic.push_back(lesson::ratio(l.classic, l.plain));
        planned.push_back(lesson::ratio(l.planned, l.plain));
    }
    const auto most = std::max_element(
        wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    fmt::print("\n{}\n",
               wrapped(fmt::format("{} is the fastest on {} of {} matrices. Geometric means over "
                                   "plain CSR: the fastest method {}, the fastest classic {}, what "
                                   "the plan chose {}.",
                                   most->first, most->second, lessons.size(),
                                   number(geometric_mean(fastest)), number(geometric_mean(classic)),
                                   number(geometric_mean(planned))),
                       line_width(stdout), 0));
}

/// "12.3 us"
std::string text_of_seconds(double s) {
    if (s >= 1) return fmt::format("{:.3g} s", s);
    return s >= 1e-3 ? fmt::format("{:.3g} ms", s * 1e3) : fmt::format("{:.3g} us", s * 1e6);
}

std::string method_and_time(const benchmark_result& t) {
    return fmt::format("{} with {} on {} thread{}", t.method, text_of_seconds(t.time.median_s),
                       t.threads, t.threads == 1 ? "" : "s");
}

/// Of one matrix: the plan's choice between the fastest and the slowest.
std::string learned_of(const lesson& l) {
    const benchmark_result* slowest = l.fastest;
    for (const benchmark_result& t : l.matrix->results)
        if (t.measured() && t.time.median_s > slowest->time.median_s) slowest = &t;
    const std::string ends = fmt::format("the fastest was {}, the slowest {}",
                                         method_and_time(*l.fastest), method_and_time(*slowest));
    if (l.planned == nullptr) return fmt::format("{}: {}.", l.matrix->name, ends);
    return fmt::format("{}: the plan chose {}, {} of the fastest's speed; {}.", l.matrix->name,
                       method_and_time(*l.planned), percent(lesson::ratio(l.planned, l.fastest)),
                       ends);
}

/// Of several: how good the plan's choices are in the mean, and where they are best and worst.
std::string learned_of(std::span<const lesson> lessons) {
    std::vector<double> shares;
    const lesson *best = nullptr, *worst = nullptr;
    const auto share = [](const lesson& l) { return lesson::ratio(l.planned, l.fastest); };
    for (const lesson& l : lessons) {
        if (l.planned == nullptr) continue;
        shares.push_back(share(l));
        if (best == nullptr || share(l) > share(*best)) best = &l;
        if (worst == nullptr || share(l) < share(*worst)) worst = &l;
    }
    if (best == nullptr) return "The plan chose nothing that was measured.";
    const auto at = [&](const lesson& l) {
        return fmt::format("{} ({} with {})", l.matrix->name, percent(share(l)), l.planned->method);
    };
    return fmt::format(
        "The plan's choice has {} of the fastest method's speed in the mean of {} matrices: most "
        "on {}, least on {}, where {} is the fastest.",
        percent(geometric_mean(shares)), shares.size(), at(*best), at(*worst),
        worst->fastest->method);
}

}  // namespace

void print_summary(std::span<const matrix_result> matrices, std::span<const lesson> lessons) {
    if (lessons.empty()) return;
    const std::size_t width = line_width(stdout);
    std::vector<const benchmark_result*> all;
    for (const matrix_result& A : matrices)
        for (const benchmark_result& t : A.results) all.push_back(&t);
    if (const std::string note = busy_note(all); !note.empty())
        fmt::print("{}\n\n", wrapped(note, width));
    // Doubtful times teach nothing.
    for (const lesson& l : lessons)
        if (is_busy(*l.fastest) || (l.planned != nullptr && is_busy(*l.planned))) return;
    const std::string learned = lessons.size() == 1 ? learned_of(lessons[0]) : learned_of(lessons);
    fmt::print("{}\n\n", wrapped(learned, width));
}

double lesson::ratio(const benchmark_result* t, const benchmark_result* reference) {
    if (t == nullptr || reference == nullptr) return 0;
    return reference->time.median_s / t->time.median_s;
}

std::vector<lesson> lessons_of(std::span<const matrix_result> matrices, int threads) {
    std::vector<lesson> lessons;
    for (const matrix_result& A : matrices) {
        lesson l;
        l.matrix = &A;
        l.fastest = A.fastest([](const benchmark_result&) { return true; });
        if (l.fastest == nullptr) continue;
        l.plain = A.find(plain_method, threads);
        l.classic =
            A.fastest([](const benchmark_result& t) { return layout_of(t.method) != "packed"; });
        l.planned = A.find(A.planned(), threads);
        if (l.planned == nullptr) l.planned = A.find(A.planned(), 1);  // a method of one thread
        const benchmark_result* parallel =
            A.fastest([&](const benchmark_result& t) { return t.threads == threads; });
        l.why = why(l, threads == 1 ? nullptr : parallel);
        lessons.push_back(std::move(l));
    }
    return lessons;
}

void print_lessons(std::span<const lesson> lessons) {
    if (lessons.empty()) return;
    const std::size_t width = line_width(stdout);
    fmt::print(
        "\nWhat won, on how many threads; how many times as fast it is as plain CSR\n"
        "({}) and as the best classic method (all but packed); what the plan\n"
        "chose without timing, and how much of the fastest's speed that has\n\n",
        plain_method);
    table rows({{"matrix", false},
                {"fastest", false},
                {"on"},
                {"plain\nCSR"},
                {"best\nclassic"},
                {"the plan\nchose", false},
                {"its\nspeed"}});
    for (const lesson& l : lessons)
        rows.add_row({l.matrix->name, l.fastest->method, std::to_string(l.fastest->threads),
                      number(lesson::ratio(l.fastest, l.plain)),
                      number(lesson::ratio(l.fastest, l.classic)),
                      l.matrix->planned().empty() ? "-" : l.matrix->planned(),
                      percent(lesson::ratio(l.planned, l.fastest))});
    rows.print_within(width);
    fmt::print("\nWhat the matrices and the fastest methods' layouts are\n\n");
    for (const lesson& l : lessons)
        fmt::print(
            "{}\n",
            wrapped(fmt::format("{}, {}: {}", l.matrix->name, l.fastest->method, l.why), width, 2));
    print_means(lessons);
}

void print_next_steps(std::span<const lesson> lessons) {
    if (lessons.empty()) return;
    const lesson& l =
        *std::max_element(lessons.begin(), lessons.end(), [](const lesson& a, const lesson& b) {
            return lesson::ratio(a.fastest, a.plain) < lesson::ratio(b.fastest, b.plain);
        });
    const std::string nz = quoted(program_invocation_name), A = quoted(l.matrix->path);
    fmt::print("\nTry next\n");
    fmt::print("  {} spy {}\n", nz, A);
    fmt::print("  {} plan {} --tune\n", nz, A);
    if (why_no_gpu().empty()) {
        fmt::print("  {} study {} --device gpu\n", nz, A);
    } else {
        fmt::print("  {} bench {} --plan --methods {},{}\n", nz, A, plain_method,
                   l.fastest->method == plain_method ? "csr.serial" : l.fastest->method);
    }
}

nz::json to_json(const lesson& l) {
    nz::json j = {{"matrix", l.matrix->name},
                  {"fastest", l.fastest->method},
                  {"threads", l.fastest->threads},
                  {"why", l.why},
                  {"over_plain_csr", nullptr},
                  {"classic", l.classic == nullptr ? nullptr : nz::json(l.classic->method)},
                  {"over_classic", nullptr},
                  {"planned", nullptr},
                  {"plan_over_fastest", nullptr}};
    if (!l.matrix->planned().empty()) j["planned"] = l.matrix->planned();
    const auto set = [&](const char* key, double ratio) {
        if (ratio > 0) j[key] = ratio;
    };
    set("over_plain_csr", lesson::ratio(l.fastest, l.plain));
    set("over_classic", lesson::ratio(l.fastest, l.classic));
    set("plan_over_fastest", lesson::ratio(l.planned, l.fastest));
    return j;
}

}  // namespace nz::cli
