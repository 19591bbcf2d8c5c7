// The first row that a loop of several threads has met.
#pragma once

#include <atomic>
#include <cstdint>

namespace nz {

/// The least of the rows noted so far, whichever thread notes them.
class first_row_noted {
  public:
    void note(std::int64_t row) {
        std::int64_t before = row_.load();
        while ((before < 0 || row < before) && !row_.compare_exchange_weak(before, row)) {
        }
    }
    [[nodiscard]] std::int64_t row() const { return row_.load(); }  ///< -1: none

  private:
    std::atomic<std::int64_t> row_ = -1;
};

}  // namespace nz
