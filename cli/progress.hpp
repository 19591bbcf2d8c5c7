// Progress line on stderr, if it is a terminal.
#pragma once

#include <memory>
#include <string>

namespace nz::cli {

/// From the second second of its life on, a line on stderr tells what goes on and for how long,
/// where stderr is a terminal; it goes with the object. The thread behind it wakes twice a second,
/// which a measurement does not feel.
class running_clock {
  public:
    explicit running_clock(std::string label);
    running_clock(const running_clock&) = delete;
    running_clock& operator=(const running_clock&) = delete;
    ~running_clock();
    /// Says from now on that something else goes on, and for how long all of it did.
    void relabel(std::string label);

  private:
    struct teller;
    std::unique_ptr<teller> teller_;  // null where nobody watches
};

}  // namespace nz::cli
