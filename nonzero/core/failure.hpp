// Exceptions of the threads of a parallel region, for the thread that waits for them.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace nz {

/// An exception that left an OpenMP region would end the process: guard what a thread does in
/// it, and rethrow behind it. Of several exceptions one is kept.
class first_failure {
  public:
    template <class F>
    void guard(F f) noexcept {
        try {
            f();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!happened_) thrown_ = std::current_exception();
            happened_ = true;
        }
    }
    /// Whether something was thrown so far: the work that is left is wasted.
    [[nodiscard]] bool happened() const { return happened_; }
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

  private:
    std::mutex mutex_;
    std::exception_ptr thrown_;
    std::atomic<bool> happened_ = false;
};

}  // namespace nz
