// Builds a model problem in every format that does not decline it, and says what each costs.
#include <cstdio>
#include <nonzero/nonzero.hpp>
#include <string>

int main() {
    const nz::csr<double, nz::host> A = nz::laplace2d<double>(100, 100);
    const nz::matrix_stats stats = nz::compute_stats(nz::view(A));
    std::string seen;
    for (const nz::method<double>& m : nz::methods<double>()) {
        const std::string layout(m.layout());
        if (!m.exists_on_cpu || seen.find(" " + layout + " ") != std::string::npos) continue;
        seen += " " + layout + " ";
        const nz::estimate cost = m.cost(stats);
        if (cost.declined.empty()) {
            std::printf("%-8s %9.0f bytes\n", layout.c_str(), cost.matrix_bytes);
        } else {
            std::printf("%-8s declines: %s\n", layout.c_str(), cost.declined.c_str());
        }
    }
    return seen.empty() ? 1 : 0;
}
