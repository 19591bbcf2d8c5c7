// Numbers as people read them: the same in the command, in reports and in the Python package.
#pragma once

#include <string>

namespace nz {

/// "0.0123", "12.3", "1235", "10.2 M": three digits, more only of numbers from 1,000 to a million,
/// whose whole part is shown. An exponent where |x| is below 0.001 or not below 1e15: "2.0e-07".
[[nodiscard]] std::string text_of_number(double x);

/// "120 ns", "79.8 us", "31.5 s": three digits of the largest unit that is not more. Seconds are
/// the last one, so that 1,234 of them are "1234 s".
[[nodiscard]] std::string text_of_time(double s);

/// "512 B", "32.8 kB", "1.50 GB": three digits, by thousands. Sizes and rates have one unit
/// everywhere, so that bytes over seconds are the GB/s beside them.
[[nodiscard]] std::string text_of_bytes(double bytes);

}  // namespace nz
