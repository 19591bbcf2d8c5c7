// A x = b over the processes that mpirun starts: each reads its own rows, all solve together.
//
//     mpirun --oversubscribe -n 2 over_ranks matrices/lap3d_40.mtx.gz
#include <mpi.h>

#include <cstdio>
#include <nonzero/dist/mpi.hpp>
#include <nonzero/nonzero.hpp>
#include <string>
#include <utility>

namespace {

/// By what suits A, b = 1; whether it converged.
bool solve(const nz::mpi_ranks& ranks, const char* path) {
    const nz::cpu on{.threads = 1, .ranks = &ranks};   // sums go over all ranks
    auto slice = nz::read_slice<double>(ranks, path);  // this rank's rows
    const nz::host_vector<double> b(std::size_t(slice.own.shape.rows), 1);  // and its elements
    nz::host_vector<double> x(b.size(), 0);
    const nz::system_report report = nz::solve<double>(on, std::move(slice), b, x);
    const nz::system_report::attempt& best = report.result();
    if (ranks.rank() == 0)
        std::printf("%s by %s, %s, after %lld iterations on %d processes\n",
                    best.report.why.c_str(), std::string(nz::name_of(best.method)).c_str(),
                    std::string(nz::name_of(best.preconditioner)).c_str(),
                    static_cast<long long>(best.report.iterations), ranks.size());
    return report.converged();
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0, code = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    try {
        const nz::mpi_ranks ranks(MPI_COMM_WORLD);
        code = argc > 1 && solve(ranks, argv[1]) ? 0 : 1;
    } catch (const nz::error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
    return code;
}
