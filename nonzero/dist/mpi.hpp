// MPI as the communicator of distributed matrices. Header only: compiled with the MPI of who
// includes it, so that the library itself needs none (docs/decisions/mpi.md).
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "nonzero/core/communicator.hpp"
#include "nonzero/core/error.hpp"

namespace nz {

/// The ranks of an MPI communicator. Needs MPI_THREAD_FUNNELED: only the thread that calls it talks
/// to MPI. Its messages do not meet the caller's own, as it talks over a duplicate.
///
///     MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
///     {
///         const nz::mpi_ranks ranks(MPI_COMM_WORLD);
///         const nz::cpu on{.threads = 1, .ranks = &ranks};
///         const nz::distributed<double, nz::cpu> A(on, nz::read_slice<double>(ranks, "A.mtx"));
///         ...
///     }
///     MPI_Finalize();
///
/// Throws device_error where MPI reports one.
class mpi_ranks final : public communicator {
  public:
    /// Called by all ranks of `of`, after MPI's start; destroyed by all of them before its end.
    explicit mpi_ranks(MPI_Comm of) {
        check(MPI_Comm_dup(of, &comm_), "MPI_Comm_dup");
        check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    }
    mpi_ranks(const mpi_ranks&) = delete;
    mpi_ranks& operator=(const mpi_ranks&) = delete;
    ~mpi_ranks() override { MPI_Comm_free(&comm_); }

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }

    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const override {
        if (mine.size() > largest_piece)
            throw argument_error("mpi_ranks: more than 1 GiB of each rank to gather");
        const int bytes = int(mine.size());
        check(MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm_),
              "MPI_Allgather");
    }

    void start(std::span<const message<const std::byte>> out,
               std::span<const message<std::byte>> in) const override {
        requests_.clear();
        for (const auto& m : in)
            for_each_piece(m, [&](std::byte* at, int bytes) {
                check(MPI_Irecv(at, bytes, MPI_BYTE, m.peer, tag, comm_, next_request()),
                      "MPI_Irecv");
            });
        for (const auto& m : out)
            for_each_piece(m, [&](const std::byte* at, int bytes) {
                check(MPI_Isend(at, bytes, MPI_BYTE, m.peer, tag, comm_, next_request()),
                      "MPI_Isend");
            });
    }
    void wait() const override {
        check(MPI_Waitall(int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
        requests_.clear();
    }

  private:
    static constexpr std::size_t largest_piece = std::size_t(1) << 30;  // MPI counts in an int
    static constexpr int tag = 0;

    template <class Byte, class F>
    static void for_each_piece(const message<Byte>& m, F f) {
        for (std::size_t at = 0; at < m.bytes.size(); at += largest_piece)
            f(m.bytes.data() + at, int(std::min(largest_piece, m.bytes.size() - at)));
    }
    MPI_Request* next_request() const { return &requests_.emplace_back(); }

    static void check(int code, const char* what) {
        if (code == MPI_SUCCESS) return;
        char text[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        MPI_Error_string(code, text, &length);
        throw device_error(std::string(what) + ": " + text);
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
    mutable std::vector<MPI_Request> requests_;  // keeps its memory from product to product
};

}  // namespace nz
