// nz solve as its users meet it: solutions in files, refusals with their reason, exit codes.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "nonzero/core/gpu.hpp"
#include "test/command.hpp"

namespace nz::test {
namespace {

using nlohmann::json;

class solve : public command {
  protected:
    solve() {
        setenv("XDG_CACHE_HOME", dir.c_str(), 1);
        EXPECT_EQ(nz("generate laplace2d --nx 20 --ny 20 -o A.npz").code, 0);
    }
    /// The JSON that the arguments lead to.
    [[nodiscard]] json report(const std::string& arguments) const {
        return json::parse(nz("solve " + arguments + " --json -").out);
    }
};

constexpr const char* banner = "%%MatrixMarket matrix coordinate real general\n";

TEST_F(solve, says_what_it_did) {
    const auto [code, out, err] = nz("solve A.npz --tol 1e-10 --threads 1");
    EXPECT_EQ(code, 0);
    EXPECT_EQ(err, "");
    EXPECT_NE(out.find("method      cg, preconditioner amg"), std::string::npos) << out;
    EXPECT_NE(out.find("converged   yes, to 1e-10"), std::string::npos) << out;
    EXPECT_EQ(out.find("|*"), std::string::npos) << "plotted where nobody watches";
    EXPECT_NE(nz("solve A.npz --plot").out.find('*'), std::string::npos);
}

TEST_F(solve, every_method_and_preconditioner) {
    for (const std::string method : {"cg", "bicgstab", "gmres"})
        for (const std::string preconditioner : {"none", "jacobi", "block-jacobi", "sgs", "amg"}) {
            const auto j = report("A.npz --threads 1 --method " + method + " --precond " +
                                  preconditioner + " --block 2");
            EXPECT_EQ(j["converged"], true) << method << " " << preconditioner << " " << j["why"];
            EXPECT_LE(double(j["relative_residual"]), 1e-8);
            EXPECT_EQ(j["history"].size(), std::size_t(j["iterations"]) + 1);
            EXPECT_LE(double(j["relative_error"]), 1e-4);  // the condition is some hundreds
            EXPECT_EQ(j["method"], method);
            EXPECT_EQ(j["preconditioner"], preconditioner);
        }
}

TEST_F(solve, reads_and_writes_vectors) {
    write("D.mtx", std::string(banner) + "2 2 2\n1 1 2\n2 2 4\n");
    write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n6\n20\n");
    EXPECT_EQ(nz("solve D.mtx -b b.mtx -o x.mtx").code, 0);
    EXPECT_EQ(slurp(dir / "x.mtx"), "%%MatrixMarket matrix array real general\n2 1\n3\n5\n");
    write("minus.mtx", std::string(banner) + "2 2 2\n1 1 -2\n2 2 -4\n");
    EXPECT_EQ(nz("solve minus.mtx -b b.mtx -o y.mtx").code, 0);
    EXPECT_EQ(slurp(dir / "y.mtx"), "%%MatrixMarket matrix array real general\n2 1\n-3\n-5\n");
    // The solution as a guess leaves nothing to do.
    EXPECT_EQ(report("D.mtx -b b.mtx --guess x.mtx")["iterations"], 0);
    EXPECT_EQ(nz("solve D.mtx -b A.npz").code, 3);
    write("short.mtx", "%%MatrixMarket matrix array real general\n1 1\n6\n");
    EXPECT_EQ(nz("solve D.mtx -b short.mtx").code, 2);
}

TEST_F(solve, refuses_with_the_reason) {
    write("wide.mtx", std::string(banner) + "2 3 1\n1 1 1\n");
    write("skew.mtx", std::string(banner) + "2 2 4\n1 1 2\n1 2 1\n2 1 -1\n2 2 2\n");
    write("hole.mtx", std::string(banner) + "2 2 3\n1 1 2\n1 2 1\n2 1 1\n");
    const auto refused = [&](const std::string& arguments, const std::string& why) {
        const auto [code, out, err] = nz("solve " + arguments + " -o x.mtx");
        EXPECT_EQ(code, 1) << arguments;
        EXPECT_EQ(out, "") << arguments;
        EXPECT_NE(err.find(why), std::string::npos) << err;
        EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
        EXPECT_FALSE(fs::exists(dir / "x.mtx")) << arguments;
    };
    refused("wide.mtx", "A is 2 x 3, not square");
    refused("skew.mtx --method cg", "A is not symmetric: row 0, column 1 has 1");
    refused("hole.mtx --method gmres --precond jacobi", "jacobi: the diagonal is zero in row 1");
    refused("skew.mtx --precond amg", "amg: A is not symmetric");
    refused("hole.mtx --method cg", "its diagonal is 0 in row 1");
    refused("hole.mtx --precond block-jacobi --block 1", "is singular");
    // Without asking for what does not suit, what suits is taken.
    EXPECT_EQ(report("skew.mtx")["method"], "bicgstab");
    EXPECT_EQ(report("hole.mtx")["preconditioner"], "none");
}

TEST_F(solve, not_converging_exits_1) {
    const auto [code, out, err] = nz("solve A.npz --precond none --max-iter 3");
    EXPECT_EQ(code, 1);
    EXPECT_NE(out.find("converged   no: max_iter iterations were spent"), std::string::npos) << out;
}

TEST_F(solve, complex_systems) {
    write("H.mtx",
          "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 2 0\n2 1 0 1\n2 2 2 0\n");
    const auto j = report("H.mtx");
    EXPECT_EQ(j["type"], "cdouble");
    EXPECT_EQ(j["method"], "cg");
    EXPECT_EQ(j["converged"], true);
    EXPECT_EQ(nz("solve H.mtx --device gpu").code, 2);
}

TEST_F(solve, real_matrices) {
    const auto memplus = report(NZ_SOURCE_DIR "/matrices/memplus.mtx.gz --precond jacobi");
    EXPECT_EQ(memplus["method"], "bicgstab");
    EXPECT_EQ(memplus["converged"], true) << memplus["why"];
    // -6 on its diagonal.
    const auto poisson = report(NZ_SOURCE_DIR "/matrices/lap3d_40.mtx.gz --tol 1e-10");
    EXPECT_EQ(poisson["method"], "cg");
    EXPECT_EQ(poisson["negated"], true);
    EXPECT_EQ(poisson["converged"], true) << poisson["why"];
}

TEST_F(solve, on_the_gpu) {
    if (const std::string why = why_no_gpu(); !why.empty()) {
        EXPECT_EQ(nz("solve A.npz --device gpu").code, 4);
        GTEST_SKIP() << why;
    }
    for (const std::string method : {"cg", "bicgstab", "gmres"})
        for (const std::string preconditioner : {"none", "jacobi", "block-jacobi", "sgs", "amg"}) {
            const auto j = report("A.npz --device gpu --method " + method + " --precond " +
                                  preconditioner + " --block 2");
            EXPECT_EQ(j["converged"], true) << method << " " << preconditioner << " " << j["why"];
            EXPECT_EQ(j["in_graph"], method != "gmres");
        }
}

}  // namespace
}  // namespace nz::test
