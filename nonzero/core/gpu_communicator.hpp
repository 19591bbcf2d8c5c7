// Ranks that compute on GPUs: what they tell each other of what lies in GPU memory.
#pragma once

#include <string_view>

#include "nonzero/core/backend.hpp"
#include "nonzero/core/communicator.hpp"

namespace nz {

/// Bytes of GPU memory for another rank, and from it.
struct gpu_send {
    int peer = 0;
    device_span<std::byte> bytes = {};
};
struct gpu_receive {
    int peer = 0;
    device_out<std::byte> bytes = {};
};

/// The ranks of a computation each of which runs on a GPU. What lies in the CPU's memory goes by
/// the communicator that it was made from, which must outlive it. What lies in GPU memory goes by
/// the functions below, which take their place in the order of on.stream. All ranks make the same
/// calls in the same order. Throws device_error where the transport fails.
class gpu_communicator : public communicator {
  public:
    explicit gpu_communicator(const communicator& by_cpu) : by_cpu_(by_cpu) {}
    [[nodiscard]] int rank() const final { return by_cpu_.rank(); }
    [[nodiscard]] int size() const final { return by_cpu_.size(); }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const final {
        by_cpu_.all_gather(mine, all);
    }
    void start(std::span<const message<const std::byte>> out,
               std::span<const message<std::byte>> in) const final {
        by_cpu_.start(out, in);
    }
    void wait() const final { by_cpu_.wait(); }

    /// How bytes of GPU memory travel, in a word or two.
    [[nodiscard]] virtual std::string_view transport() const = 0;

    /// all = mine of every rank, in rank order. Every rank gives as many bytes.
    virtual void gather_on_gpu(gpu on, device_span<std::byte> mine,
                               device_out<std::byte> all) const = 0;

    /// Starts to send and to receive, after what is launched in on.stream so far. What is launched
    /// there from now on runs meanwhile, and what is launched after `wait_on_gpu` runs afterwards.
    /// Between the two there is no other call.
    virtual void start_on_gpu(gpu on, std::span<const gpu_send> out,
                              std::span<const gpu_receive> in) const = 0;
    virtual void wait_on_gpu(gpu on) const = 0;

  private:
    const communicator& by_cpu_;
};

}  // namespace nz
