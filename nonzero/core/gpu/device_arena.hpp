// Several arrays of a GPU in one allocation.
#pragma once

#include <utility>
#include <vector>

#include "nonzero/core/device_array.hpp"

namespace nz {

/// Scratch memory of several parts in one allocation. Each part is asked for first; `allocate` then
/// gives all of them their places.
class device_arena {
  public:
    /// Asks for room for `count` elements. `allocate` makes `to` point there, so `to` itself must
    /// stay where it is until then.
    template <class T>
    void want(T*& to, std::size_t count) {
        wants_.push_back({reinterpret_cast<void**>(&to), used_});
        used_ += (count * sizeof(T) + 255) / 256 * 256;
    }
    void allocate(gpu on) {
        memory_ = device_array<std::byte>(on, used_);
        for (const auto& [to, at] : wants_) *to = memory_.data() + at;
    }

  private:
    std::vector<std::pair<void**, std::size_t>> wants_;
    std::size_t used_ = 0;
    device_array<std::byte> memory_;
};

}  // namespace nz
