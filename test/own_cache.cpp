// Tests read and write no cache but their own, also where they are run without ctest.
#include <cstdlib>

namespace {
[[maybe_unused]] const int set = setenv("XDG_CACHE_HOME", NZ_TEST_CACHE, 1);
}
