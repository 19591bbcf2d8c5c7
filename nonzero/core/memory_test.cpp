#include "nonzero/core/memory.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/error.hpp"

namespace nz {
namespace {

TEST(expect_memory, says_what_is_needed) {
    EXPECT_NO_THROW(expect_memory("nothing", 1));
    try {
        expect_memory("a yottabyte", 1e24);
        FAIL();
    } catch (const device_error& e) {
        EXPECT_EQ(std::string(e.what()).rfind("a yottabyte needs 1.0e+12 TB", 0), 0U);
    }
}

}  // namespace
}  // namespace nz
