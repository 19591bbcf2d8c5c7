#include "nonzero/plan/plan_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "nonzero/core/text/numbers.hpp"

namespace nz {

const plan_report::candidate& plan_report::cheapest() const {
    const candidate* best = &candidates.front();
    for (const candidate& c : candidates)
        if (c.declined.empty() && c.setup_s() < best->setup_s()) best = &c;
    return *best;
}

void plan_report::put_first(std::string_view method) {
    const auto at = std::ranges::find(candidates, method, &candidate::method);
    std::rotate(candidates.begin(), at, at + 1);
}

double plan_report::break_even_products() const {
    const plan_report::candidate &mine = chosen(), &other = cheapest();
    const double gain = other.product_s() - mine.product_s();
    if (&mine == &other || gain <= 0) return 0;
    return std::ceil((mine.setup_s() - other.setup_s()) / gain);
}

namespace {

/// Line on the error bound of a plan's products; empty where values are stored exactly.
std::string storage_line(const plan_report& p) {
    if (p.storage == value_storage::exact) return {};
    std::string text = fmt::format("storage {}: |y - A x| <= {:.3g} |A| |x|", name_of(p.storage),
                                   p.bound.relative);
    if (p.bound.absolute > 0)
        text += fmt::format(", and {:.2g} |x_j| for each entry below {:.2g}", p.bound.absolute,
                            p.bound.smallest);
    return text;
}

std::string setup_line(const plan_report& p) {
    std::string takes = "setup takes " + text_of_time(p.chosen().setup_s());
    if (!p.timing.beside.empty()) takes += ", with its timing beside " + p.timing.beside;
    const double even = p.break_even_products();
    if (even == 0) return takes + ", and no other method's takes less";
    return fmt::format("{}; it pays from {} products on, against {}", takes, text_of_number(even),
                       p.cheapest().method);
}

/// Columns as wide as their widest cell, the first to the left.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (const auto& row : rows) {
        text += fmt::format("{:{}}", row[0], widths[0]);
        for (std::size_t c = 1; c < row.size(); ++c)
            text += fmt::format("  {:>{}}", row[c], widths[c]);
        text += '\n';
    }
    return text;
}

}  // namespace

std::vector<std::string> answer_of(const plan_report& p) {
    std::vector<std::string> all{p.why, setup_line(p)};
    if (std::string line = storage_line(p); !line.empty()) all.push_back(std::move(line));
    all.push_back(fmt::format("matrix {} x {}, {} entries; machine {}", p.shape.rows, p.shape.cols,
                              p.nnz, p.machine));
    return all;
}

std::span<const plan_report::candidate> suitable(const plan_report& p) {
    const auto end =
        std::find_if(p.candidates.begin(), p.candidates.end(),
                     [](const plan_report::candidate& c) { return !c.declined.empty(); });
    return {p.candidates.begin(), end};
}

std::vector<std::string> heads_of(const plan_report& p) {
    std::vector<std::string> all{"method", "predicted", "setup", "bytes moved", "bytes stored"};
    if (p.chosen().measured_s > 0) all.insert(all.begin() + 2, "measured");
    return all;
}

std::vector<std::string> cells_of(const plan_report& p, const plan_report::candidate& c) {
    std::vector<std::string> all{c.method, text_of_time(c.predicted_s), text_of_time(c.setup_s()),
                                 text_of_bytes(c.bytes), text_of_bytes(c.matrix_bytes)};
    if (p.chosen().measured_s > 0)
        all.insert(all.begin() + 2, c.measured_s > 0 ? text_of_time(c.measured_s) : "-");
    return all;
}

std::string rest_of(const plan_report& p) {
    const std::size_t suit = suitable(p).size(), more = suit - std::min(suit, shown_candidates);
    const std::size_t others = p.candidates.size() - suit;
    if (more == 0 && others == 0) return {};
    if (more == 0) return fmt::format("methods that decline: {}", others);
    const std::string text = fmt::format("more methods that suit: {}", more);
    return others == 0 ? text : text + fmt::format("; that decline: {}", others);
}

std::string to_text(const plan_report& p) {
    std::string text;
    for (const std::string& line : answer_of(p)) text += line + '\n';
    std::vector<std::vector<std::string>> rows{heads_of(p)};
    for (const plan_report::candidate& c : suitable(p))
        if (rows.size() <= shown_candidates) rows.push_back(cells_of(p, c));
    text += '\n' + aligned(rows);
    const std::string rest = rest_of(p);
    return rest.empty() ? text : text + '\n' + rest + '\n';
}

std::ostream& operator<<(std::ostream& to, const plan_report& p) { return to << to_text(p); }

}  // namespace nz
