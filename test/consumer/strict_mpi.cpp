// The public header that needs MPI.
#include <nonzero/dist/mpi.hpp>
#include <vector>

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int sum = 0;
    {
        const nz::mpi_ranks ranks(MPI_COMM_WORLD);
        const int mine = ranks.rank();
        std::vector<int> all(static_cast<std::size_t>(ranks.size()));
        ranks.all_gather(std::as_bytes(std::span(&mine, 1)),
                         std::as_writable_bytes(std::span(all)));
        for (const int rank : all) sum += rank;
    }
    MPI_Finalize();
    return sum < 0;
}
