#include "nonzero/plan/timing/steady.hpp"

#include <algorithm>

namespace nz {

steady_rates measure_steadily(const std::function<measured_rates()>& measure,
                              const std::function<bool(const measured_rates&)>& sound) {
    steady_rates all{.best = measure(), .steady = false, .takes = 1};
    measured_rates second(all.best.size(), 0);
    while (!all.steady && all.takes < most_takes) {
        const measured_rates again = measure();
        ++all.takes;
        all.steady = true;
        for (std::size_t k = 0; k < all.best.size(); ++k) {
            second[k] = std::max(second[k], std::min(again[k], all.best[k]));
            all.best[k] = std::max(all.best[k], again[k]);
            all.steady = all.steady && all.best[k] <= steady_within * second[k];
        }
        all.steady = all.steady && sound(all.best);
    }
    return all;
}

}  // namespace nz
