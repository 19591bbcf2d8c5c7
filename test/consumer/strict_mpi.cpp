// The public header that needs MPI.
#include <nonzero/dist/mpi.hpp>

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int sum = 0;
    {
        const nz::mpi_ranks ranks(MPI_COMM_WORLD);
        for (const int rank : nz::gathered(ranks, ranks.rank())) sum += rank;
        sum = nz::summed(ranks, sum);
    }
    MPI_Finalize();
    return sum < 0;
}
