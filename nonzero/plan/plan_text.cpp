// Text of a plan: the cheapest setup, when its own setup pays, and the output of `nz plan`.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "nonzero/plan/plan.hpp"

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
    return text + "\n";
}

}  // namespace

std::string to_text(const plan_report& p) {
    std::size_t width = 6;
    for (const plan_report::candidate& c : p.candidates) width = std::max(width, c.method.size());
    std::string text = fmt::format("{:{}}  {:>9}  {:>12}  {:>11}  {:>12}\n", "method", width, "MB",
                                   "predicted us", "measured us", "setup us");
    for (const plan_report::candidate& c : p.candidates) {
        if (!c.declined.empty()) {
            text += fmt::format("{:{}}  declines: {}\n", c.method, width, c.declined);
            continue;
        }
        text += fmt::format("{:{}}  {:>9.3f}  {:>12.2f}  {:>11}  {:>12.0f}\n", c.method, width,
                            c.bytes * 1e-6, c.predicted_s * 1e6,
                            c.measured_s > 0 ? fmt::format("{:.2f}", c.measured_s * 1e6) : "-",
                            c.setup_s() * 1e6);
    }
    text += fmt::format("\nmatrix  {} x {}, {} entries\nmachine {}\nchosen  {}\n", p.shape.rows,
                        p.shape.cols, p.nnz, p.machine, p.why);
    text += storage_line(p);
    const double even = p.break_even_products();
    text += even == 0 ? "setup   the cheapest there is\n"
                      : fmt::format("setup   {:.0f} us; pays from {:.0f} products on, against {}\n",
                                    p.chosen().setup_s() * 1e6, even, p.cheapest().method);
    return text;
}

std::ostream& operator<<(std::ostream& to, const plan_report& p) { return to << to_text(p); }

}  // namespace nz
