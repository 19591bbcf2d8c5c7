#include "cli/study/study_lessons.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <map>

#include "cli/conditions/quiet.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
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
    return fmt::format("a product takes {} on one thread, {} at best on {}",
                       text_of_time(t.time.median_s), text_of_time(parallel->time.median_s),
                       parallel->threads);
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

/// A large figure, and the sentence that it is in.
struct figure {
    std::string number, text;
};

/// "memplus" of one, "geometric mean of 3 matrices; most on memplus, 2.10x by csr.merge" of
/// several.
std::string spread_over(std::span<const lesson* const> of, const char* end, const lesson& at,
                        const std::string& there) {
    if (of.size() == 1) return fmt::format("{}: {}", at.matrix->name, there);
    return fmt::format("geometric mean of {} matrices; {} on {}: {}", of.size(), end,
                       at.matrix->name, there);
}

/// The lesson that is furthest by `of`, a number.
template <class Number>
const lesson& furthest(std::span<const lesson* const> all, Number of) {
    return **std::max_element(all.begin(), all.end(),
                              [&](const lesson* a, const lesson* b) { return of(*a) < of(*b); });
}

template <class Number>
double mean_of(std::span<const lesson* const> all, Number of) {
    std::vector<double> numbers;
    for (const lesson* l : all) numbers.push_back(of(*l));
    return geometric_mean(numbers);
}

/// Those of which `t` was measured, and by times that are not doubtful: those teach nothing.
std::vector<const lesson*> known(std::span<const lesson> lessons,
                                 const benchmark_result* lesson::*t) {
    std::vector<const lesson*> all;
    for (const lesson& l : lessons)
        if (l.*t != nullptr && !is_busy(*(l.*t)) && !is_busy(*l.fastest)) all.push_back(&l);
    return all;
}

/// Lessons of the study in at most three figures, as nz report draws them (cli/page/taught.js).
std::vector<figure> figures_of(std::span<const lesson> lessons) {
    std::vector<figure> all;
    if (const auto some = known(lessons, &lesson::plain); !some.empty()) {
        const auto gain = [](const lesson& l) { return lesson::ratio(l.fastest, l.plain); };
        const lesson& most = furthest(some, gain);
        const std::string there = fmt::format("{:.2f}x by {}", gain(most), most.fastest->method);
        all.push_back({fmt::format("{:.2f}x", mean_of(some, gain)),
                       fmt::format("as fast as plain CSR ({}) is the fastest method ({})",
                                   plain_method, spread_over(some, "most", most, there))});
    }
    if (const auto some = known(lessons, &lesson::planned); !some.empty()) {
        const auto share = [](const lesson& l) { return lesson::ratio(l.planned, l.fastest); };
        const lesson& least = furthest(some, [&](const lesson& l) { return -share(l); });
        const std::string there =
            fmt::format("{} by {}", percent(share(least)), least.planned->method);
        all.push_back({percent(mean_of(some, share)),
                       fmt::format("of the fastest method's speed has the plan's choice, made "
                                   "without timing ({})",
                                   spread_over(some, "least", least, there))});
    }
    auto some = known(lessons, &lesson::plain);
    std::erase_if(some, [](const lesson* l) { return l->matrix->nnz == 0; });
    if (!some.empty()) {
        const auto saved = [](const lesson& l) {
            return l.plain->matrix_bytes / l.fastest->matrix_bytes;
        };
        const lesson& most = furthest(some, saved);
        const auto nnz = double(most.matrix->nnz);
        all.push_back({fmt::format("{} bytes", text_of_number(most.fastest->matrix_bytes / nnz)),
                       fmt::format("for each entry stores {}, the fastest on {}; plain CSR stores "
                                   "{}, and every product reads them all",
                                   most.fastest->method, most.matrix->name,
                                   text_of_number(most.plain->matrix_bytes / nnz))});
    }
    return all;
}

}  // namespace

void print_summary(std::span<const matrix_result> matrices, std::span<const lesson> lessons) {
    if (lessons.empty()) return;
    const std::size_t width = line_width(stdout);
    std::vector<const benchmark_result*> results;
    for (const matrix_result& A : matrices)
        for (const benchmark_result& t : A.results) results.push_back(&t);
    if (const std::string note = busy_note(results); !note.empty())
        fmt::print("{}\n\n", wrapped(note, width));
    const auto figures = figures_of(lessons);
    if (figures.empty()) return;
    fmt::print("What this taught\n\n");
    constexpr std::size_t indent = 14;
    for (const figure& f : figures) {
        // A word as long as the figure's place, for the figure to stand in.
        std::string lines = wrapped(std::string(indent - 1, '.') + ' ' + f.text, width, indent);
        fmt::print("{}\n",
                   lines.replace(0, indent - 1, fmt::format("{:>{}} ", f.number, indent - 2)));
    }
    fmt::print("\n");
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
