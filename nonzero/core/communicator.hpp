// Processes that compute together, each on its own part of the rows: what they tell each other.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "nonzero/core/cpp20.hpp"

namespace nz {

/// Bytes for another rank, or from it.
template <class Byte>
struct message {
    int peer = 0;
    std::span<Byte> bytes = {};
};

/// The ranks of one computation as one of them sees them, numbered from 0. What solvers and
/// distributed matrices need of MPI, and no more. All ranks make the same calls in the same order.
/// Throws device_error where the transport fails. For one thread at a time.
class communicator {
  public:
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

/// Every rank's value, in rank order.
template <class T>
std::vector<T> gathered(const communicator& ranks, const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(std::size_t(ranks.size()));
    ranks.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
}

/// The sum over the ranks, added in rank order: the same bits on every rank, and in every run with
/// as many ranks.
template <class T>
T summed(const communicator& ranks, const T& mine) {
    T sum = {};
    for (const T& part : gathered(ranks, mine)) sum += part;
    return sum;
}

}  // namespace nz
