// A system that is too large for one GPU, solved by CG on as many as there are processes, a GPU
// each.
//
//     mpirun -n 2 large_bench SIDE [TOLERANCE]
//
// D L D x = b, where L is the 27-point Laplacian of SIDE^3 unknowns and D a diagonal matrix of
// random numbers, so that hardly two values are equal and none can be stored once for several
// entries. Each rank makes its own rows. b is such that x is known: two products are compared bit
// by bit, and a sample of their rows with sums in long double. Prints JSON.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/gpu/gpu_ranks.hpp"
#include "nonzero/dist/mpi.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/gen/counter.hpp"
#include "nonzero/gen/stencil_rows.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/plan/gpu_machine.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {
namespace {

constexpr std::int64_t sampled_rows = 1000;  // of each rank

double factor(index i) { return (1 + counter(1, 0).uniform(std::uint64_t(i))) / 2; }

/// The element of x that b is made of.
double known_at(index i) { return counter(2, 0).value<double>(std::uint64_t(i)); }

/// This rank's rows of D L D.
matrix_slice<double> own_rows(const communicator& ranks, index points) {
    const shares rows = equal_shares(points * points * points, ranks.size());
    const range mine = rows.of(ranks.rank());
    auto A = laplace27_rows<double>(points, points, points, mine);
    parallel_for(thread_count({}), A.shape.rows, [&](std::int64_t i) {
        const double of_row = factor(index(mine.first + i));
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            A.val[k] *= of_row * factor(A.col_ind[k]);
    });
    return {rows, rows, std::move(A)};
}

/// Jacobi's preconditioner as a matrix: the diagonal alone.
csr<double, host> diagonal_matrix(const matrix_slice<double>& A, int rank) {
    csr<double, host> D{{A.own.shape.rows, A.own.shape.rows}, {}, {}, own_diagonal(A, rank)};
    host_vector<offset> ptr{0};
    for (index i = 0; i < D.shape.rows; ++i) D.col_ind.push_back(i), ptr.push_back(i + 1);
    D.row_ptr = offset_vector(ptr);
    return D;
}

/// The largest error of a row of b = D L D x, in eps times the sum of its products' magnitudes. A
/// row's entries are made anew, so nothing is taken from what multiplied.
double largest_row_error(index points, range rows, const host_vector<double>& b) {
    double largest = 0;
    const auto step = std::max<std::int64_t>((rows.last - rows.first) / sampled_rows, 1);
    for (std::int64_t at = rows.first; at < rows.last; at += step) {
        const auto i = index(at);
        const auto row = laplace27_rows<double>(points, points, points, {at, at + 1});
        long double sum = 0, magnitudes = 0;
        for (std::size_t k = 0; k < row.val.size(); ++k) {
            const double a = row.val[k] * (factor(i) * factor(row.col_ind[k]));
            const long double product = static_cast<long double>(a) * known_at(row.col_ind[k]);
            sum += product, magnitudes += std::abs(product);
        }
        const auto error = std::abs(b[std::size_t(at - rows.first)] - sum);
        largest = std::max(largest, double(error / magnitudes));
    }
    return largest / std::numeric_limits<double>::epsilon();
}

/// |x - known| / |known| over all ranks.
double relative_error(const communicator& ranks, const host_vector<double>& x,
                      const host_vector<double>& known) {
    double error2 = 0, size2 = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        error2 += (x[i] - known[i]) * (x[i] - known[i]), size2 += known[i] * known[i];
    return std::sqrt(summed(ranks, error2) / summed(ranks, size2));
}

void run(const communicator& ranks, index points, double tol) {
    const gpu_rank mine(ranks);
    const gpu on = mine;
    gpu alone = on;
    alone.ranks = nullptr;
    auto start = steady_clock::now();
    auto slice = own_rows(ranks, points);
    const double generate_s = seconds_since(start);
    const auto entries = summed(ranks, std::int64_t(slice.own.val.size()));
    const auto csr_bytes = summed(ranks, bytes(slice.own));
    const auto n = std::size_t(slice.own.shape.rows);
    start = steady_clock::now();
    std::unique_ptr<linear_operator<double, gpu>> M;
    agree(&ranks, [&] { M = jacobi(alone, view(diagonal_matrix(slice, ranks.rank()))); });
    const distributed<double, gpu> A(on, std::move(slice));
    const double setup_s = seconds_since(start);

    host_vector<double> known(n);
    const range mine_rows = A.rows().of(ranks.rank());
    for (std::size_t i = 0; i < n; ++i)
        known[i] = known_at(index(mine_rows.first + std::int64_t(i)));
    vector<double, gpu> x, b;
    agree(&ranks, [&] {
        x = from_host(on, std::span<const double>(known)), b = make_vector<double>(on, n);
    });
    A.apply(1, x, 0, b);
    const auto product = to_host<double>(on, b);
    A.apply(1, x, 0, b);
    const auto again = to_host<double>(on, b);
    const int differs = std::memcmp(product.data(), again.data(), n * sizeof(double)) != 0;
    const bool same_bits = summed(ranks, differs) == 0;
    const auto row_errors = gathered(ranks, largest_row_error(points, mine_rows, product));
    agree(&ranks, [&] { x = from_host(on, std::span<const double>(host_vector<double>(n, 0))); });
    start = steady_clock::now();
    const auto report = cg<double, gpu>(on, A, *M, b, x, {.tol = tol, .max_iter = 20000});
    const double solve_s = seconds_since(start);
    const auto used = memory_of(on);
    const auto used_bytes = gathered(ranks, used.total_bytes - used.free_bytes);
    const auto operator_bytes = gathered(ranks, A.bytes());
    const double error = relative_error(ranks, to_host<double>(on, x), known);
    if (ranks.rank() != 0) return;
    const nlohmann::json told{{"problem", "27-point Laplacian, scaled from both sides"},
                              {"side", points},
                              {"rows", A.global_shape().rows},
                              {"entries", entries},
                              {"csr_bytes", csr_bytes},
                              {"gpu", describe_gpu(on).name},
                              {"gpu_memory_bytes", used.total_bytes},
                              {"transport", mine.transport()},
                              {"method", A.method_name()},
                              {"operator_bytes", operator_bytes},
                              {"gpu_used_bytes", used_bytes},
                              {"same_bits", same_bits},
                              {"row_error_eps", std::ranges::max(row_errors)},
                              {"generate_s", generate_s},
                              {"setup_s", setup_s},
                              {"solve_s", solve_s},
                              {"iteration_s", report.iteration_s()},
                              {"iterations", report.iterations},
                              {"converged", report.converged},
                              {"tol", tol},
                              {"relative_residual", report.relative_residual()},
                              {"relative_error", error}};
    std::printf("%s\n", told.dump(1).c_str());
}

}  // namespace
}  // namespace nz

int main(int argc, char** argv) {
    int provided = 0, code = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    try {
        const nz::mpi_ranks ranks(MPI_COMM_WORLD);
        const int points = argc > 1 ? std::atoi(argv[1]) : 0;
        if (points < 2 || points > 1290) throw nz::argument_error("large_bench SIDE [TOLERANCE]");
        nz::run(ranks, points, argc > 2 ? std::atof(argv[2]) : 1e-6);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "large_bench: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, code = 1);
    }
    MPI_Finalize();
    return code;
}
