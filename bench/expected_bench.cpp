// Whether plan_options::expected_products pays: planning, building and that many products, beside
// as many products by a CSR that costs nothing to set up. One line of JSON a matrix, number of
// threads and number of products; medians of rounds in which the two take turns.
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
        constexpr int rounds = 5;
        std::vector<double> planned_s, setup_s, plain_s;
        std::string chosen;
        multiply(*plain_, products);
        for (int round = 0; round < rounds; ++round) {
            std::unique_ptr<nz::linear_operator<double, nz::cpu>> op;
            setup_s.push_back(seconds([&] {
                const auto plan = nz::make_plan(A_, on_, {.expected_products = products});
                chosen = plan.chosen().method;
                op = nz::build(plan, A_);
            }));
            planned_s.push_back(setup_s.back() + seconds([&] { multiply(*op, products); }));
            op.reset();
            plain_s.push_back(seconds([&] { multiply(*plain_, products); }));
        }
        return {{"threads", on_.threads},
                {"products", products},
                {"chosen", chosen},
                {"setup_s", median(setup_s)},
                {"planned_s", median(planned_s)},
                {"plain_s", median(plain_s)}};
    }

  private:
    void multiply(nz::linear_operator<double, nz::cpu>& op, int products) {
        for (int k = 0; k < products; ++k) op.apply(1, x_, 0, y_);
    }

    const nz::csr<double, nz::host>& A_;
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
