// The command under mpirun: several processes, one answer.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "nonzero/core/gpu.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/io/io.hpp"
#include "test/command.hpp"
#include "test/systems.hpp"

namespace nz::test {
namespace {

int count(const std::string& text, const std::string& what) {
    int n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++n;
    return n;
}

/// The first line that has it; empty where none has.
std::string line_with(const std::string& text, const std::string& what) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.find(what) != std::string::npos) return line;
    return "";
}

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
        return mpirun("-n " + std::to_string(processes) + " " + before + " $nz " + arguments);
    }
    /// Outcome of mpirun with these arguments, $nz being the command.
    [[nodiscard]] outcome mpirun(const std::string& arguments) const {
#if defined(NZ_MPIRUN)
        constexpr const char* mpirun = NZ_MPIRUN;
#else
        constexpr const char* mpirun = "";
#endif
        const std::string line = "cd '" + dir.string() +
                                 "' && nz='" NZ_COMMAND "' && timeout 60 '" + mpirun +
                                 "' --oversubscribe " + arguments + " >out 2>err </dev/null";
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        const int status = std::system(line.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(dir / "out"),
                slurp(dir / "err")};
    }
    /// The same, which fails with that code, and says why, once, and which rank it is.
    void expect_refusal(const std::string& arguments, int code, int rank, const std::string& why) {
        const auto start = std::chrono::steady_clock::now();
        const auto got = mpirun(arguments);
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << arguments;
        EXPECT_EQ(got.code, code) << arguments << got.err;
        const std::string name = "nz: rank " + std::to_string(rank) + " of ";
        EXPECT_EQ(count(got.err, name), 1) << arguments << got.err;
        EXPECT_EQ(count(got.err, "nz: "), 1) << arguments << got.err;
        EXPECT_NE(line_with(got.err, name).find(why), std::string::npos) << arguments << got.err;
        EXPECT_EQ(got.err.find("MPI_ERR"), std::string::npos) << arguments << got.err;
        EXPECT_EQ(got.out, "") << arguments;
    }
    [[nodiscard]] std::string file(const char* name) const { return (dir / name).string(); }
};

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
    EXPECT_EQ(count(got.out, "times its share"), 1) << got.out;
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
    for (const std::string precond : {"jacobi", "amg"}) {
        const auto solved =
            nz_on(2, "solve A.mtx -b b.mtx -o x.mtx --device gpu --share-gpu --precond " + precond);
        ASSERT_EQ(solved.code, 0) << solved.err;
        EXPECT_NE(solved.out.find("preconditioner " + precond), std::string::npos) << solved.out;
        const auto r = residual_of(system.A, read_vector<double>(file("x.mtx")), system.b);
        EXPECT_LE(r.norm, 1.01e-8 * r.rhs);
    }
    const auto ranked = nz_on(2, "pagerank A.mtx --device gpu --share-gpu --json -");
    ASSERT_EQ(ranked.code, 0) << ranked.err;
    const auto here = nlohmann::json::parse(nz("pagerank A.mtx --json -").out);
    const auto there = nlohmann::json::parse(ranked.out);
    // By symmetry four nodes have the highest rank, and rounding tells which comes first.
    EXPECT_NEAR(there["top"][0]["rank"], here["top"][0]["rank"], 1e-9);
    const auto timed = nz_on(2,
                             "bench A.mtx --ranks-table --distinct --device gpu --share-gpu "
                             "--seconds 0.01 --json -");
    ASSERT_EQ(timed.code, 0) << timed.err;
    const auto times = nlohmann::json::parse(timed.out);
    EXPECT_EQ(times["device"], "gpu");
    ASSERT_EQ(times["over_ranks"].size(), 2U);
    for (const char* what : {"median_s", "without_messages_s", "messages_s"})
        EXPECT_GT(times["over_ranks"][1][what], 0) << what;
    const auto pairs = nz_on(2, "eigs A.mtx -k 2 --device gpu --share-gpu --json -");
    ASSERT_EQ(pairs.code, 0) << pairs.err;
    const auto found = nlohmann::json::parse(pairs.out);
    EXPECT_EQ(found["preconditioner"], "amg");
    const auto angle = [](int k, int n) { return 2 * std::cos(k * M_PI / (n + 1)); };
    const double bound = 2e-8 * double(found["norm"]);
    EXPECT_NEAR(double(found["values"][0]), 4 - angle(1, 30) - angle(1, 20), bound);
    EXPECT_NEAR(double(found["values"][1]), 4 - angle(2, 30) - angle(1, 20), bound);
}

/// Processes that share no GPU sum through each other's memory, or by NCCL.
TEST_F(ranks, solve_with_a_gpu_each_with_the_same_bits) {
    if (gpu_count() < 2) GTEST_SKIP() << "fewer than two GPUs here";
    const auto system = manufactured("laplace", laplace3d<double>(40, 30, 20));
    nz::write(file("A.mtx"), view(system.A));
    write_vector<double>(file("b.mtx"), system.b);
    for (const std::string how : {"--method cg --precond jacobi", "--method cg --precond amg",
                                  "--method gmres --precond jacobi"}) {
        const std::string solve = "solve A.mtx -b b.mtx --device gpu " + how;
        const auto first = nz_on(2, solve + " -o x.mtx"), second = nz_on(2, solve + " -o z.mtx");
        ASSERT_EQ(first.code, 0) << first.err;
        ASSERT_EQ(second.code, 0) << second.err;
        EXPECT_EQ(slurp(dir / "x.mtx"), slurp(dir / "z.mtx")) << how;
        const auto r = residual_of(system.A, read_vector<double>(file("x.mtx")), system.b);
        EXPECT_LE(r.norm, 1.01e-8 * r.rhs) << how;
    }
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
    const auto alone = nlohmann::json::parse(nz("eigs A.mtx -k 2 --which smallest --json -").out);
    const auto got = nz_on(2, "eigs A.mtx -k 2 --which smallest -o v.mtx --json -");
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
    EXPECT_EQ(count(refused.err, "A is not symmetric: row 0, column 1 has"), 1) << refused.err;
    auto nan = A;
    nan.val[3] = std::numeric_limits<double>::quiet_NaN();
    nz::write(file("N.mtx"), view(nan));
    const auto no_number = nz_on(2, "eigs N.mtx");
    EXPECT_EQ(no_number.code, 1);
    EXPECT_EQ(count(no_number.err, "A is not finite: row 1, column 0 has nan"), 1) << no_number.err;
}

TEST_F(ranks, call_a_matrix_symmetric_by_its_values) {
    // A zero on one side, as zeroed boundary rows leave it.
    auto A = laplace2d<double>(9, 8);
    host_vector<index> row, col;
    host_vector<double> val;
    for_each_entry(view(A), 0, 72, [&](index i, index j, double v) {
        row.push_back(i), col.push_back(j), val.push_back(v);
    });
    row.push_back(70), col.push_back(3), val.push_back(0);
    nz::write(file("A.mtx"), view(assemble<double>(A.shape, row, col, val)));
    for (const char* does : {"eigs A.mtx -k 2", "eigs A.mtx -k 2 --precond amg",
                             "solve A.mtx --method cg", "solve A.mtx --precond amg"}) {
        const auto got = nz_on(2, does);
        EXPECT_EQ(got.code, 0) << does << ": " << got.err;
    }
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

TEST_F(ranks, measure_the_product_on_growing_numbers_of_them) {
    const index n = 3600;
    nz::write(file("A.mtx"), view(laplace2d<double>(60, 60)));
    const auto got = nz_on(4, "bench A.mtx --ranks-table --seconds 0.001 --json A.json");
    ASSERT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(count(got.out, "A: 3600 x 3600"), 1) << got.out;
    std::istringstream lines(got.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
    const auto told = nlohmann::json::parse(slurp(dir / "A.json"));
    ASSERT_EQ(told["over_ranks"].size(), 3U);
    EXPECT_EQ(told["processes"], 4);
    for (const auto& row : told["over_ranks"]) {
        const int count = row["ranks"];
        SCOPED_TRACE(count);
        ASSERT_EQ(row["entries"].size(), std::size_t(count));
        ASSERT_EQ(row["memory"]["most_bytes"].size(), std::size_t(count));
        EXPECT_EQ(row["threads"], 1);
        double entries = 0, most = 0;
        for (const double e : row["entries"]) entries += e, most = std::max(most, e);
        EXPECT_EQ(entries, 5 * double(n) - 4 * 60);
        EXPECT_NEAR(row["imbalance"], most * count / entries, 1e-12);
        EXPECT_LT(row["imbalance"], 1.1);
        // A row of the grid from each neighbour.
        for (int r = 0; r < count; ++r)
            EXPECT_NEAR(row["halo_bytes"][std::size_t(r)],
                        8.0 * 60 *
                            (count == 1                 ? 0
                             : r == 0 || r == count - 1 ? 1
                                                        : 2),
                        8.0);
        const double s = row["median_s"];
        EXPECT_GT(s, 0);
        EXPECT_GT(row["without_messages_s"], 0);
        EXPECT_GT(row["messages_s"], 0);
        EXPECT_GE(row["communication_share"], 0);
        EXPECT_LT(row["communication_share"], 1);
        EXPECT_NEAR(row["speed_up"], told["over_ranks"][0]["median_s"].get<double>() / s, 1e-9);
        EXPECT_NEAR(row["efficiency"], row["speed_up"].get<double>() / count, 1e-12);
        EXPECT_NEAR(row["gflops"], 2 * entries / s * 1e-9, 1e-9);
    }
}

TEST_F(ranks, measure_on_all_of_them_alone) {
    nz::write(file("A.mtx"), view(random<double>(40, 30, 5, 1)));
    for (const std::string more : {"", " --distinct --transpose --type float --methods csr.*"}) {
        const auto got = nz_on(2, "bench A.mtx A.mtx --seconds 0.001 --json -" + more);
        ASSERT_EQ(got.code, 0) << got.err;
        const auto told = nlohmann::json::parse(got.out);
        EXPECT_EQ(told["values"], more.empty() ? "as they are" : "distinct");
        ASSERT_EQ(told["over_ranks"].size(), 2U);  // a matrix each
        EXPECT_EQ(told["over_ranks"][1]["ranks"], 2);
        EXPECT_FALSE(told["over_ranks"][1].contains("speed_up"));
        if (!more.empty()) {
            EXPECT_TRUE(told["over_ranks"][0]["method"].get<std::string>().starts_with("csr."));
        }
    }
}

/// Which no layout stores once for several entries.
TEST_F(ranks, measure_distinct_values) {
    nz::write(file("A.mtx"), view(laplace2d<double>(60, 60)));
    const auto bytes_of = [&](const std::string& more) {
        const auto got =
            nz_on(2, "bench A.mtx --methods packed.warp --seconds 0.001 --json -" + more);
        EXPECT_EQ(got.code, 0) << got.err;
        const auto told = nlohmann::json::parse(got.out);
        double bytes = 0;
        for (const double b : told["over_ranks"][0]["operator_bytes"]) bytes += b;
        return bytes;
    };
    const double values = 8.0 * (5 * 3600 - 4 * 60);
    const double as_they_are = bytes_of("");
    EXPECT_GT(as_they_are, 0);
    EXPECT_LT(as_they_are, values);
    EXPECT_GT(bytes_of(" --distinct"), values);
}

/// One that read the whole file, or held its rows twice, would hold more.
TEST_F(ranks, hold_little_more_than_their_share) {
    const auto A = laplace3d<double>(90, 90, 90);
    for (const std::string name : {"A.petsc", "A.mtx"}) {
        nz::write(file(name.c_str()), view(A));
        const auto got = nz_on(4, "spmv " + name + " --json -");
        ASSERT_EQ(got.code, 0) << got.err;
        const auto memory = nlohmann::json::parse(got.out)["memory"];
        double all = 0;
        for (const double share : memory["share_bytes"]) all += share;
        EXPECT_NEAR(all, double(bytes(A)) + 16.0 * 90 * 90 * 90, 4 * 16);
        EXPECT_LE(memory["heaviest_over_share"], 1.6) << name << memory;
        EXPECT_GE(memory["heaviest_over_share"], 0.9) << name << memory;
    }
    // The five vectors of CG are 0.4 of a share; a copy of the matrix would be 0.85.
    const auto solved = nz_on(4, "solve A.petsc --precond jacobi --max-iter 3 --json -");
    const auto memory = nlohmann::json::parse(solved.out)["memory"];
    EXPECT_LE(memory["heaviest_over_share"], 2) << memory;
    EXPECT_GE(memory["heaviest_over_share"], 0.9) << memory;
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
        for (const char* run : {"spmv wide.mtx --device gpu", "solve wide.mtx --device gpu",
                                "eigs wide.mtx --device gpu", "pagerank wide.mtx --device gpu",
                                "bench wide.mtx --device gpu"})
            expect(run, 4, why);
    }
    expect("solve wide.mtx --device gpu --type cdouble", 2, "complex values");
    expect("bench bad.mtx --ranks-table", 3, "bad.mtx:4: value 'x' is no number, expected one");
    expect("bench wide.mtx --peers", 2, "for one process only");
    expect("bench wide.mtx --threads 1,2", 2, "--threads: over several processes one number");
}

/// Errors that end a process before it could join the others, which would wait for it.
TEST_F(ranks, one_with_wrong_arguments_ends_all) {
    nz::write(file("A.mtx"), view(laplace2d<double>(4, 4)));
    const std::string good = "-n 1 $nz spmv A.mtx";
    const struct {
        const char *arguments, *why;
    } all[] = {
        {"spmv A.mtx --nonsense", "has no option --nonsense"},
        {"spmw A.mtx", "did you mean spmv?"},
        {"solve A.mtx --tol abc", "--tol"},
        {"solve A.mtx --method nothing", "--method"},
        {"spmv A.mtx --threads 0", "--threads"},
        {"spmv", "matrix is required"},
        {"spmv A.mtx --transpose --conjugate-transpose", "excludes"},
        {"info", "matrix is required"},
        {"--nonsense", "has no option --nonsense"},
    };
    for (const auto& [arguments, why] : all) {
        expect_refusal(good + " : -n 1 $nz " + arguments, 2, 1, why);
        expect_refusal("-n 1 $nz " + std::string(arguments) + " : -n 2 $nz spmv A.mtx", 2, 0, why);
    }
    expect_refusal("-n 3 $nz spmv A.mtx --nonsense", 2, 0, "has no option --nonsense");
    expect_refusal("-n 3 $nz info", 2, 0, "matrix is required");
}

TEST_F(ranks, one_that_was_asked_for_something_else_ends_all) {
    nz::write(file("A.mtx"), view(laplace2d<double>(4, 4)));
    const auto expect = [&](const std::string& first, const std::string& second) {
        expect_refusal("-n 1 $nz " + first + " : -n 1 $nz " + second, 2, 1,
                       "was started with `nz " + second + "`, and rank 0 with `nz " + first + "`");
    };
    expect("spmv A.mtx", "--help");
    expect("spmv A.mtx", "solve --help");
    expect("--version", "spmv A.mtx");
    expect("spmv A.mtx", "solve A.mtx");
    expect("solve A.mtx", "pagerank A.mtx");
    expect("spmv A.mtx", "methods");
    expect("methods", "machine");
    expect("spmv A.mtx", "spmv A.mtx --device gpu");
    expect("solve A.mtx", "solve A.mtx --tol 1e-6");
    expect("solve A.mtx --tol 1e-6", "solve A.mtx --tol 1e-7");
    expect("spmv A.mtx", "spmv A.mtx --transpose");
    expect("spmv A.mtx -x x.mtx", "spmv A.mtx");
    expect("bench A.mtx", "bench A.mtx A.mtx");
    expect_refusal("-n 1 $nz spmv A.mtx : -n 1 $nz", 2, 1,
                   "was started with `nz`, and rank 0 with `nz spmv A.mtx`");
}

TEST_F(ranks, may_have_numbers_of_threads_of_their_own) {
    nz::write(file("A.mtx"), view(laplace2d<double>(4, 4)));
    const auto got = mpirun("-n 1 $nz solve A.mtx --threads 2 : -n 1 $nz solve --threads=1 A.mtx");
    EXPECT_EQ(got.code, 0) << got.err;
}

TEST_F(ranks, print_help_once) {
    for (const std::string arguments : {"--help", "--version", "solve --help", "help solve", ""}) {
        const auto got = nz_on(3, arguments);
        EXPECT_EQ(got.code, 0) << arguments << got.err;
        EXPECT_EQ(got.out, nz(arguments).out) << arguments;
    }
}

/// As on a host where the package that has it is not installed.
TEST_F(ranks, one_without_the_part_for_mpi_ends_all) {
    nz::write(file("A.mtx"), view(laplace2d<double>(4, 4)));
    fs::create_directory(dir / "bin");
    fs::copy_file(NZ_COMMAND, dir / "bin" / "nz");
    for (const std::string what : {"spmv A.mtx", "info A.mtx"}) {
        const std::string without = " bin/nz " + what, with = " $nz " + what;
        const std::string why = "libnonzero_mpi.so";
        expect_refusal("-n 1" + with + " : -n 1" + without, 4, 1, why);
        expect_refusal("-n 1" + without + " : -n 1" + with, 4, 0, why);
        // Rank 0 says it at once; others may follow before a busy launcher ends them.
        const auto all = mpirun("-n 3" + without);
        EXPECT_EQ(all.code, 4) << all.err;
        EXPECT_NE(line_with(all.err, "nz: rank 0 of 3").find(why), std::string::npos) << all.err;
    }
}

/// Slurm, or MPICH, with a part for Open MPI: as many single processes.
TEST_F(ranks, that_do_not_meet_are_told) {
    nz::write(file("A.mtx"), view(laplace2d<double>(4, 4)));
    setenv("PMI_SIZE", "2", 1);
    setenv("PMI_RANK", "1", 1);
    const auto got = nz("solve A.mtx");
    unsetenv("PMI_SIZE");
    unsetenv("PMI_RANK");
    EXPECT_EQ(got.code, 4) << got.err;
    EXPECT_EQ(count(got.err, "nz: rank 1 of 2: 2 processes were started, but 1 met"), 1) << got.err;
    EXPECT_EQ(got.out, "");
}

TEST_F(ranks, a_script_runs_what_is_for_one_process_on_one_of_them) {
    write("script",
          "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 0 ] || exit 0\n"
          "\"$1\" generate laplace2d --nx 3 --ny 3 -o A.mtx && \"$1\" info A.mtx\n");
    fs::permissions(dir / "script", fs::perms::all);
    const auto got = mpirun("-n 2 ./script $nz");
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(count(got.out, "33 entries"), 1) << got.out;
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
    // One rank alone can read it, two cannot, and the third is asleep then.
    const auto table = nz_on(3, "bench A.mtx --ranks-table --seconds 0.001", "./wrapper");
    EXPECT_EQ(table.code, 3) << table.err;
    EXPECT_EQ(count(table.err, "nz: rank 1 of 3: A.mtx: cannot open"), 1) << table.err;
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

TEST_F(command, the_table_over_ranks_needs_several) {
    nz::write((dir / "A.mtx").string(), view(laplace2d<double>(4, 4)));
    const auto got = nz("bench A.mtx --ranks-table");
    EXPECT_EQ(got.code, 2);
    EXPECT_EQ(count(got.err, "mpirun -n 4 nz bench A.mtx --ranks-table"), 1) << got.err;
}

TEST_F(command, one_process_of_mpirun_needs_no_mpi) {
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    nz::write((dir / "A.mtx").string(), view(laplace2d<double>(4, 4)));
    EXPECT_EQ(nz("solve A.mtx").code, 0);
    unsetenv("OMPI_COMM_WORLD_SIZE");
}

}  // namespace
}  // namespace nz::test
