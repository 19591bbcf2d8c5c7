// The command under mpirun: several processes, one answer.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "nonzero/core/gpu.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/io/io.hpp"
#include "test/command.hpp"
#include "test/systems.hpp"

namespace nz::test {
namespace {

class ranks : public command {
  protected:
    void SetUp() override {
#if !defined(NZ_MPIRUN)
        GTEST_SKIP() << "nonzero was built without MPI";
#endif
    }
    /// The command in so many processes. It must end by itself, also where one of them fails.
    [[nodiscard]] outcome nz_on(int processes, const std::string& arguments,
                                const std::string& before = "") const {
#if defined(NZ_MPIRUN)
        constexpr const char* mpirun = NZ_MPIRUN;
#else
        constexpr const char* mpirun = "";
#endif
        const std::string line = "cd '" + dir.string() + "' && timeout 60 '" + mpirun +
                                 "' --oversubscribe -n " + std::to_string(processes) + " " +
                                 before + " '" NZ_COMMAND "' " + arguments +
                                 " >out 2>err </dev/null";
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        const int status = std::system(line.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(dir / "out"),
                slurp(dir / "err")};
    }
    [[nodiscard]] std::string file(const char* name) const { return (dir / name).string(); }
};

int count(const std::string& text, const std::string& what) {
    int n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++n;
    return n;
}

TEST_F(ranks, multiply_as_one_does) {
    const auto A = from_rule<double>(60, 45, [](index, index, double u) { return u > 0.8; });
    const auto x = random_vector<double>(45, 1), y = random_vector<double>(60, 2);
    nz::write(file("A.mtx"), view(A));
    write_vector<double>(file("x.mtx"), x);
    write_vector<double>(file("y.mtx"), y);
    const auto got = nz_on(3, "spmv A.mtx -x x.mtx -y y.mtx --alpha 2 --beta -1 -o z.mtx");
    ASSERT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(count(got.out, "|y|_2"), 1);
    EXPECT_NE(got.out.find("60 x 45"), std::string::npos) << got.out;
    EXPECT_NE(got.out.find("3 processes"), std::string::npos) << got.out;
    const auto want = reference_product<double>(transposition::plain, 2, view(A), x, -1, y);
    EXPECT_TRUE(compare<double>(read_vector<double>(file("z.mtx")), want).holds());
    const auto back = nz_on(3, "spmv A.mtx -x y.mtx --transpose -o -");
    ASSERT_EQ(back.code, 0) << back.err;
    write("back.mtx", back.out);
    const auto want_back =
        reference_product<double>(transposition::transpose, 1, view(A), y, 0, {});
    EXPECT_TRUE(compare<double>(read_vector<double>(file("back.mtx")), want_back).holds());
}

TEST_F(ranks, multiply_and_solve_on_gpus_as_one_does) {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    const auto system = manufactured("laplace", laplace2d<double>(30, 20));
    nz::write(file("A.mtx"), view(system.A));
    write_vector<double>(file("b.mtx"), system.b);
    const auto product = nz_on(2, "spmv A.mtx -x b.mtx -o y.mtx --device gpu --share-gpu");
    ASSERT_EQ(product.code, 0) << product.err;
    const auto want =
        reference_product<double>(transposition::plain, 1, view(system.A), system.b, 0, {});
    EXPECT_TRUE(compare<double>(read_vector<double>(file("y.mtx")), want).holds());
    const auto solved = nz_on(2, "solve A.mtx -b b.mtx -o x.mtx --device gpu --share-gpu");
    ASSERT_EQ(solved.code, 0) << solved.err;
    const auto r = residual_of(system.A, read_vector<double>(file("x.mtx")), system.b);
    EXPECT_LE(r.norm, 1.01e-8 * r.rhs);
}

TEST_F(ranks, solve_as_one_does) {
    const auto system = manufactured("laplace", laplace2d<double>(30, 20));
    nz::write(file("A.mtx"), view(system.A), {.store = symmetry::symmetric});
    write_vector<double>(file("b.mtx"), system.b);
    for (const std::string more : {"", "--method gmres --precond sgs", "--precond amg"}) {
        const auto got = nz_on(3, "solve A.mtx -b b.mtx -o x.mtx " + more);
        ASSERT_EQ(got.code, 0) << more << got.err;
        EXPECT_EQ(count(got.out, "converged   yes"), 1) << got.out;
        const auto r = residual_of(system.A, read_vector<double>(file("x.mtx")), system.b);
        EXPECT_LE(r.norm, 1.01e-8 * r.rhs);
    }
}

/// The number that stands after the word at the beginning of a line.
int number_after(const std::string& text, const std::string& word) {
    const std::size_t at = text.find("\n" + word);
    return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + 1 + word.size());
}

TEST_F(ranks, precondition_by_multigrid_over_all_of_them) {
    const auto system = manufactured("laplace", laplace3d<double>(14, 14, 14));
    nz::write(file("A.mtx"), view(system.A));
    write_vector<double>(file("b.mtx"), system.b);
    const std::string solve = "solve A.mtx -b b.mtx -o x.mtx --method cg --precond amg";
    const int alone = number_after(nz(solve).out, "iterations");
    ASSERT_GT(alone, 0);
    for (const int processes : {2, 4}) {
        const auto got = nz_on(processes, solve);
        ASSERT_EQ(got.code, 0) << got.err;
        EXPECT_LE(number_after(got.out, "iterations"), alone + 3) << got.out;
        EXPECT_GT(number_after(got.out, "iterations"), 0) << got.out;
        const auto r = residual_of(system.A, read_vector<double>(file("x.mtx")), system.b);
        EXPECT_LE(r.norm, 1.01e-8 * r.rhs);
    }
}

TEST_F(ranks, find_eigenpairs_as_one_does) {
    const auto A = laplace2d<double>(24, 17);
    nz::write(file("A.mtx"), view(A));
    const auto alone = nlohmann::json::parse(nz("eigs A.mtx -k 2 --json -").out);
    const auto got = nz_on(2, "eigs A.mtx -k 2 -o v.mtx --json -");
    ASSERT_EQ(got.code, 0) << got.err;
    const auto told = nlohmann::json::parse(got.out);  // which rank 0 alone has written
    ASSERT_EQ(told["values"].size(), 2U);
    EXPECT_EQ(told["preconditioner"], "amg");
    const double within = 2 * told["tol"].get<double>() * told["norm"].get<double>();
    for (std::size_t k = 0; k < 2; ++k)
        EXPECT_NEAR(told["values"][k].get<double>(), alone["values"][k].get<double>(), within);
    const auto v = read_vector<double>(file("v.mtx"));
    ASSERT_EQ(v.size(), 408U);
    const double theta = told["values"][0];
    const auto r = reference_product<double>(transposition::plain, 1, view(A), v, -theta, v);
    for (const auto& e : r.y) EXPECT_LE(std::abs(double(e.real())), within);

    nz::write(file("B.mtx"), view(convected(laplace2d<double>(9, 8))));
    const auto refused = nz_on(2, "eigs B.mtx");
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(count(refused.err, "A is not symmetric"), 1) << refused.err;
}

TEST_F(ranks, rank_a_graph_as_one_does) {
    nz::write(file("G.mtx"), view(rmat<double>(7, 4, 0.57, 0.19, 0.19, 3)));
    const auto got = nz_on(3, "pagerank G.mtx --tol 1e-12 -o r.mtx");
    ASSERT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(count(got.out, "converged   yes"), 1) << got.out;
    ASSERT_EQ(nz("pagerank G.mtx --tol 1e-12 -o want.mtx").code, 0);
    const auto r = read_vector<double>(file("r.mtx")), want = read_vector<double>(file("want.mtx"));
    ASSERT_EQ(r.size(), want.size());
    // Each is within 1e-12 * 0.85 / 0.15 of the limit.
    for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(r[i], want[i], 1.2e-11);
}

TEST_F(ranks, say_once_what_is_wrong_and_end) {
    nz::write(file("wide.mtx"), view(random<double>(3, 4, 2, 1)));
    write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 x\n");
    const auto expect = [&](const std::string& arguments, int code, const std::string& message) {
        const auto got = nz_on(3, arguments);
        EXPECT_EQ(got.code, code) << arguments << got.err;
        EXPECT_EQ(count(got.err, message), 1) << arguments << got.err;
        EXPECT_EQ(got.out, "");
    };
    expect("spmv bad.mtx", 3, "bad.mtx:4: value 'x' is no number, expected one");
    expect("solve nothing.mtx", 3, "nothing.mtx: cannot open");
    expect("solve wide.mtx", 1, "A is 3 x 4, not square");
    expect("spmv wide.mtx -o out.txt", 2, "out.txt");
    expect("spmv wide.mtx --nonsense", 2, "--nonsense");
    if (gpu_count() < 3) {
        const std::string why = gpu_count() == 0 ? why_no_gpu() : "would share a GPU";
        for (const char* command : {"spmv wide.mtx --device gpu", "solve wide.mtx --device gpu"})
            expect(command, 4, why);
    }
    expect("solve wide.mtx --device gpu --type cdouble", 2, "complex values");
}

TEST_F(ranks, a_file_that_one_process_lacks_ends_all) {
    nz::write(file("A.mtx"), view(laplace2d<double>(4, 4)));
    write("wrapper",
          "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 1 ] && mkdir -p d && cd d\n"
          "exec \"$@\"\n");
    fs::permissions(dir / "wrapper", fs::perms::all);
    const auto got = nz_on(3, "solve A.mtx", "./wrapper");
    EXPECT_EQ(got.code, 3) << got.err;
    EXPECT_EQ(count(got.err, "nz: rank 1 of 3: A.mtx: cannot open"), 1) << got.err;
}

TEST_F(ranks, a_killed_process_ends_all) {
    // A system that takes long; the kernel kills rank 2 after two seconds of it.
    nz::write(file("A.mtx"), view(laplace2d<double>(300, 300)));
    write("wrapper",
          "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 2 ] && "
          "exec timeout -s KILL 2 \"$@\"\nexec \"$@\"\n");
    fs::permissions(dir / "wrapper", fs::perms::all);
    const auto start = std::chrono::steady_clock::now();
    const auto got = nz_on(
        3, "solve A.mtx --method gmres --precond none --tol 0 --max-iter 100000000", "./wrapper");
    EXPECT_NE(got.code, 0);
    EXPECT_NE(got.code, 124) << "it hung";
    const auto taken = std::chrono::steady_clock::now() - start;
    EXPECT_GT(taken, std::chrono::seconds(2)) << "it ended before the kill: " << got.err;
    EXPECT_LT(taken, std::chrono::seconds(30));
}

TEST_F(command, one_process_of_mpirun_needs_no_mpi) {
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    nz::write((dir / "A.mtx").string(), view(laplace2d<double>(4, 4)));
    EXPECT_EQ(nz("solve A.mtx").code, 0);
    unsetenv("OMPI_COMM_WORLD_SIZE");
}

}  // namespace
}  // namespace nz::test
