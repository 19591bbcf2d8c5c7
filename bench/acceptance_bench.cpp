// Times the products by which measured acceptance decided before it took turns: of eight, the
// planner's choice makes the first few, right after it was built, and plain CSR the rest. The last
// two of each are printed, for four rounds of each split, and what both take in the end, by which
// split and rule are judged.
// One line of JSON a matrix and number of threads.
//
//   acceptance_bench THREADS FILE...      THREADS as in 1,2
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "nonzero/io/io.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero_commit.hpp"

namespace {

using json = nlohmann::json;

class comparison {
  public:
    comparison(const nz::csr<double, nz::host>& A, int threads)
        : A_(A),
          plan_(nz::make_plan(A, nz::cpu{threads},
                              {.accept = nz::plan_options::acceptance::predicted})),
          plain_(nz::build(nz::make_plan(A, nz::cpu{threads}, {.methods = {"csr.balanced"}}), A)),
          x_(std::size_t(A.shape.cols), 1.0),
          y_(std::size_t(A.shape.rows)) {}

    [[nodiscard]] std::string chosen() const { return plan_.chosen().method; }

    json splits() {
        json all = json::array();
        for (int round = 0; round < 4; ++round)
            for (const int first : {2, 3, 4}) {
                const auto op = nz::build(plan_, A_);
                const auto choice = products(*op, first), plain = products(*plain_, 8 - first);
                all.push_back({{"products_of_choice", first},
                               {"choice_s", {choice.end()[-2], choice.end()[-1]}},
                               {"plain_s", {plain.end()[-2], plain.end()[-1]}}});
            }
        return all;
    }
    json in_the_end() {
        const auto op = nz::build(plan_, A_);
        return {{"choice_s", median_after_four(*op)}, {"plain_s", median_after_four(*plain_)}};
    }

  private:
    std::vector<double> products(const nz::linear_operator<double, nz::cpu>& op, int count) {
        std::vector<double> seconds;
        for (int k = 0; k < count; ++k) {
            const auto start = std::chrono::steady_clock::now();
            op.apply(1, x_, 0, y_);
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            seconds.push_back(took.count());
        }
        return seconds;
    }
    double median_after_four(const nz::linear_operator<double, nz::cpu>& op) {
        products(op, 4);
        auto seconds = products(op, 11);
        std::ranges::sort(seconds);
        return seconds[seconds.size() / 2];
    }

    const nz::csr<double, nz::host>& A_;
    nz::plan<double, nz::cpu> plan_;
    std::unique_ptr<nz::linear_operator<double, nz::cpu>> plain_;
    nz::host_vector<double> x_, y_;
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 3) {
        fmt::print(stderr, "usage: acceptance_bench THREADS FILE...\n");
        return 2;
    }
    for (int k = 2; k < argc; ++k) {
        const auto A = nz::read<double>(argv[k]);
        const std::string path = argv[k];
        std::istringstream threads(argv[1]);
        for (std::string count; std::getline(threads, count, ',');) {
            comparison c(A, std::stoi(count));
            if (c.chosen() == "csr.balanced") continue;
            json told{{"matrix", path.substr(path.rfind('/') + 1)},
                      {"nnz", A.val.size()},
                      {"threads", std::stoi(count)},
                      {"chosen", c.chosen()},
                      {"cpu", nz::describe_machine().cpu},
                      {"commit", nz::built_commit}};
            told["splits"] = c.splits();
            told["in_the_end"] = c.in_the_end();
            fmt::print("{}\n", told.dump());
        }
    }
} catch (const std::exception& e) {
    fmt::print(stderr, "acceptance_bench: {}\n", e.what());
    return 3;
}
