// Measurements of a machine, taken again until two agree.
#pragma once

#include <functional>
#include <vector>

namespace nz {

/// Rates of one kind each, such as bytes a second: more is better.
using measured_rates = std::vector<double>;

struct steady_rates {
    measured_rates best;  ///< the best of each over all takes
    bool steady = false;  ///< each rate's best two takes agree, and the best are sound
    int takes = 0;
};

/// Two takes of a rate agree where they are within this factor. Takes on a machine of two cores
/// differed by less, unless other processes ran at the same time; then they differed by far more.
inline constexpr double steady_within = 2;
inline constexpr int most_takes = 4;

/// Calls `measure`, which gives as many rates each time, twice, and again while the takes do not
/// agree or `sound`, which says what is physically possible, denies the best. What disturbs a
/// machine only slows it: hence the best. Throws what the two throw.
[[nodiscard]] steady_rates measure_steadily(
    const std::function<measured_rates()>& measure,
    const std::function<bool(const measured_rates&)>& sound);

}  // namespace nz
