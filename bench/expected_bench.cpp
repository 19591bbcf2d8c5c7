// Whether plan_options::expected_products pays: planning, building and that many products, of a
// matrix that is kept and of one that is given away, beside as many products by a CSR that costs
// nothing to set up. One line of JSON a matrix, number of threads and number of products; medians
// of rounds in which they take turns.
//
//   expected_bench THREADS PRODUCTS FILE...      THREADS and PRODUCTS as in 1,2
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "nonzero/io/io.hpp"
#include "nonzero/plan/plan.hpp"

namespace {

std::vector<int> numbers(const std::string& text) {
    std::vector<int> found;
    std::istringstream in(text);
    for (std::string number; std::getline(in, number, ',');) found.push_back(std::stoi(number));
    return found;
}

template <class F>
double seconds(F f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A virtual machine may give freed pages back to its host, and touching them again then takes
/// longer than a copy. Pages that were touched and freed just now are handed out first.
void touch_pages_to_come() {
    nz::host_vector<char> pages(std::size_t(1) << 28);
    for (std::size_t k = 0; k < pages.size(); k += 4096) static_cast<volatile char&>(pages[k]) = 0;
}

double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

class comparison {
  public:
    comparison(const nz::csr<double, nz::host>& A, int threads)
        : A_(A),
          on_{.threads = threads},
          plain_(nz::build(nz::make_plan(A, on_, {.methods = {"csr.balanced"}}), A)),
          x_(std::size_t(A.shape.cols), 1.0),
          y_(std::size_t(A.shape.rows)) {}

    nlohmann::json with(int products) {
        constexpr int rounds = 7;
        times kept, given_away;
        std::vector<double> plain_s;
        multiply(*plain_, products);
        for (int round = 0; round < rounds; ++round) {
            touch_pages_to_come();
            plain_s.push_back(seconds([&] { multiply(*plain_, products); }));
            add(kept, products, [&] { return nz::plan_and_build(A_, on_, options(products)); });
            if (given_.val.empty()) given_ = A_;
            touch_pages_to_come();
            plain_s.push_back(seconds([&] { multiply(*plain_, products); }));
            add(given_away, products,
                [&] { return nz::plan_and_build(std::move(given_), on_, options(products)); });
        }
        return {{"threads", on_.threads},
                {"products", products},
                {"kept", json(kept)},
                {"given_away", json(given_away)},
                {"plain_s", median(plain_s)}};
    }

  private:
    struct times {
        std::string chosen;
        std::vector<double> setup_s, all_s;
    };

    static nz::plan_options options(int products) { return {.expected_products = products}; }
    static nlohmann::json json(const times& t) {
        return {{"chosen", t.chosen}, {"setup_s", median(t.setup_s)}, {"all_s", median(t.all_s)}};
    }
    template <class F>
    void add(times& to, int products, F set_up) {
        nz::planned<double, nz::cpu> made;
        to.setup_s.push_back(seconds([&] { made = set_up(); }));
        to.all_s.push_back(to.setup_s.back() + seconds([&] { multiply(*made.op, products); }));
        to.chosen = made.plan.chosen().method;
    }
    void multiply(nz::linear_operator<double, nz::cpu>& op, int products) {
        for (int k = 0; k < products; ++k) op.apply(1, x_, 0, y_);
    }

    const nz::csr<double, nz::host>& A_;
    nz::csr<double, nz::host> given_;  ///< A copy; empty where an operator took it over.
    nz::cpu on_;
    std::unique_ptr<nz::linear_operator<double, nz::cpu>> plain_;
    nz::host_vector<double> x_, y_;
};

}  // namespace

int main(int argc, char** argv) try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() < 3) {
        fmt::print(stderr, "expected_bench THREADS PRODUCTS FILE...\n");
        return 2;
    }
    for (std::size_t k = 2; k < arguments.size(); ++k) {
        const auto A = nz::read<double>(arguments[k]);
        for (const int threads : numbers(arguments[0])) {
            comparison both(A, threads);
            for (const int products : numbers(arguments[1])) {
                nlohmann::json j = both.with(products);
                j["matrix"] = arguments[k], j["rows"] = A.shape.rows, j["entries"] = A.val.size();
                fmt::print("{}\n", j.dump());
                std::fflush(stdout);
            }
        }
    }
} catch (const std::exception& e) {
    fmt::print(stderr, "expected_bench: {}\n", e.what());
    return 1;
}
