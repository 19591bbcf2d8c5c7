// Builds a model problem in every format that does not decline it, and says what each costs.
#include <cstdio>
#include <map>
#include <nonzero/nonzero.hpp>
#include <string>

int main() {
    const nz::csr<double, nz::host> A = nz::laplace2d<double>(100, 100);
    const nz::matrix_stats stats = nz::compute_stats(nz::view(A));
    std::map<std::string, nz::estimate> costs;
    for (const nz::method<double>& m : nz::methods<double>()) {
        if (!m.exists_on_cpu) continue;
        nz::estimate& cost = costs[std::string(m.layout())];
        if (cost.matrix_bytes == 0 || !cost.declined.empty()) cost = m.cost(stats);
    }
    for (const auto& [layout, cost] : costs) {
        if (cost.declined.empty()) {
            std::printf("%-8s %9.0f bytes\n", layout.c_str(), cost.matrix_bytes);
        } else {
            std::printf("%-8s declines: %s\n", layout.c_str(), cost.declined.c_str());
        }
    }
    return costs.empty() ? 1 : 0;
}
