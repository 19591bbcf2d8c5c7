// Processes that compute together, each on its own part of the rows: what they tell each other.
#pragma once

#include <cstddef>
#include <span>

#include "nonzero/core/cpp20.hpp"

namespace nz {

/// The ranks of one computation as one of them sees them, numbered from 0. What solvers and
/// distributed matrices need of MPI, and no more. All ranks make the same calls in the same order.
/// Throws device_error where the transport fails. For one thread at a time.
class communicator {
  public:
    /// Bytes for another rank, or from it.
    template <class Byte>
    struct message {
        int peer = 0;
        std::span<Byte> bytes = {};
    };

    virtual ~communicator() = default;
    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;

    /// all = mine of every rank, in rank order. Every rank gives as many bytes.
    virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const = 0;

    /// Starts to send and to receive, and returns; the memory is the communicator's until `wait`.
    /// Messages from one rank to another arrive in the order of the lists. Between start and wait
    /// there is no other call.
    virtual void start(std::span<const message<const std::byte>> out,
                       std::span<const message<std::byte>> in) const = 0;
    virtual void wait() const = 0;
};

}  // namespace nz
