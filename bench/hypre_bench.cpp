// hypre's conjugate gradients with BoomerAMG on Poisson's problem, 7 points: a peer of nz::amg.
//   mpirun -np 2 hypre_bench 160
// One JSON line: the best of a few of hypre's own recommendations by the computing time of both.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <ctime>
#include <vector>

#include "nonzero/core/threads.hpp"
#include "nonzero/gen/generate.hpp"

namespace {

/// This rank's rows of A, b = 1 and x = 0.
struct problem {
    explicit problem(const nz::csr<double, nz::host>& A) {
        int rank = 0, ranks = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        const auto [first, last] = nz::share(A.shape.rows, ranks, rank);
        const auto low = HYPRE_BigInt(first), high = HYPRE_BigInt(last - 1);
        HYPRE_IJMatrixCreate(MPI_COMM_WORLD, low, high, low, high, &ij);
        HYPRE_IJMatrixSetObjectType(ij, HYPRE_PARCSR);
        HYPRE_IJMatrixInitialize(ij);
        for (std::int64_t i = first; i < last; ++i) {
            auto row = HYPRE_BigInt(i);
            const auto k = std::size_t(A.row_ptr[std::size_t(i)]);
            auto n = HYPRE_Int(A.row_ptr[std::size_t(i) + 1] - A.row_ptr[std::size_t(i)]);
            const std::vector<HYPRE_BigInt> col(A.col_ind.begin() + std::int64_t(k),
                                                A.col_ind.begin() + std::int64_t(k) + n);
            HYPRE_IJMatrixSetValues(ij, 1, &n, &row, col.data(), A.val.data() + k);
        }
        HYPRE_IJMatrixAssemble(ij);
        HYPRE_IJMatrixGetObject(ij, reinterpret_cast<void**>(&matrix));
        for (auto* v : {&b_ij, &x_ij}) {
            HYPRE_IJVectorCreate(MPI_COMM_WORLD, low, high, v);
            HYPRE_IJVectorSetObjectType(*v, HYPRE_PARCSR);
            HYPRE_IJVectorInitialize(*v);
        }
        HYPRE_IJVectorAssemble(b_ij), HYPRE_IJVectorAssemble(x_ij);
        HYPRE_IJVectorGetObject(b_ij, reinterpret_cast<void**>(&b));
        HYPRE_IJVectorGetObject(x_ij, reinterpret_cast<void**>(&x));
        HYPRE_ParVectorSetConstantValues(b, 1);
    }
    HYPRE_IJMatrix ij = nullptr;
    HYPRE_ParCSRMatrix matrix = nullptr;
    HYPRE_IJVector b_ij = nullptr, x_ij = nullptr;
    HYPRE_ParVector b = nullptr, x = nullptr;
};

struct settings {
    double strong;
    int aggressive;  ///< levels
};
struct timing {
    double setup_s = 0, solve_s = 0;
    double cpu_s = 0;  ///< of both, of this rank's computing
    int iterations = 0;
};

timing solve(const problem& p, const settings& s) {
    HYPRE_Solver cg = nullptr, amg = nullptr;
    HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &cg);
    HYPRE_PCGSetTol(cg, 1e-8), HYPRE_PCGSetMaxIter(cg, 200), HYPRE_PCGSetTwoNorm(cg, 1);
    HYPRE_BoomerAMGCreate(&amg);
    HYPRE_BoomerAMGSetStrongThreshold(amg, s.strong);
    HYPRE_BoomerAMGSetAggNumLevels(amg, s.aggressive);
    HYPRE_BoomerAMGSetRelaxType(amg, 8);  // l1-scaled, symmetric
    HYPRE_BoomerAMGSetTol(amg, 0), HYPRE_BoomerAMGSetMaxIter(amg, 1);
    HYPRE_PCGSetPrecond(cg, reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSolve),
                        reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSetup), amg);
    HYPRE_ParVectorSetConstantValues(p.x, 0);
    timing t;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    const std::clock_t before = std::clock();
    HYPRE_ParCSRPCGSetup(cg, p.matrix, p.b, p.x);
    MPI_Barrier(MPI_COMM_WORLD);
    const double ready = MPI_Wtime();
    HYPRE_ParCSRPCGSolve(cg, p.matrix, p.b, p.x);
    MPI_Barrier(MPI_COMM_WORLD);
    t.cpu_s = double(std::clock() - before) / double(CLOCKS_PER_SEC);
    t.setup_s = ready - start, t.solve_s = MPI_Wtime() - ready;
    HYPRE_Int iterations = 0;
    HYPRE_PCGGetNumIterations(cg, &iterations);
    t.iterations = int(iterations);
    HYPRE_ParCSRPCGDestroy(cg), HYPRE_BoomerAMGDestroy(amg);
    return t;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    HYPRE_Init();
    const auto n = nz::index(argc > 1 ? std::atoi(argv[1]) : 100);
    {
        const problem p(nz::laplace3d<double>(n, n, n));
        timing best;
        settings of{};
        for (const settings& s : {settings{0.25, 0}, settings{0.5, 0}, settings{0.25, 1}}) {
            const timing t = solve(p, s);
            if (best.iterations == 0 || t.cpu_s < best.cpu_s) best = t, of = s;
        }
        int rank = 0, ranks = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (rank == 0)
            fmt::print(
                "{{\"peer\": \"hypre\", \"n\": {}, \"ranks\": {}, \"strong\": {}, "
                "\"aggressive_levels\": {}, \"iterations\": {}, \"setup_s\": {:.4f}, "
                "\"solve_s\": {:.4f}, \"cpu_s\": {:.4f}}}\n",
                n, ranks, of.strong, of.aggressive, best.iterations, best.setup_s, best.solve_s,
                best.cpu_s);
    }
    HYPRE_Finalize();
    MPI_Finalize();
}
