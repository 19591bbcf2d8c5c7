#include "nonzero/core/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nz::test {
namespace {

TEST(json, objects_are_sorted_and_keep_the_first_of_two_alike) {
    EXPECT_EQ((json{{"b", 1}, {"a", {{"c", true}, {"c", false}}}}.dump()),
              R"({"a":{"c":true},"b":1})");
}

TEST(json, numbers_keep_their_kind_and_all_their_digits) {
    const json all = json::array({0.1, 1.0, 0.1F, -3, std::size_t(1) << 63, true, nullptr,
                                  std::nan(""), std::numeric_limits<double>::infinity()});
    EXPECT_EQ(all.dump(),
              "[0.1,1.0,0.10000000149011612,-3,9223372036854775808,true,null,null,null]");
}

TEST(json, ranges_are_arrays_and_texts_are_none) {
    json j;
    j["numbers"] = std::vector<int>{1, 2};
    j["names"] = std::vector<std::string>{"a"};
    j["text"] = std::string_view("b");
    j["none"] = std::vector<double>();
    j["rows"].push_back({{"x", 1}});
    EXPECT_EQ(j.dump(), R"({"names":["a"],"none":[],"numbers":[1,2],"rows":[{"x":1}],"text":"b"})");
    j.update({{"none", 1}, {"new", 2}});
    EXPECT_EQ(j["none"].whole(), 1);
    EXPECT_EQ(j["new"].number(), 2);
}

TEST(json, reads_what_it_wrote) {
    const json j = {{"a", json::array({1, -2, 2.5, "x\xff", json::object()})}, {"b", nullptr}};
    const std::string text = j.dump(1);
    EXPECT_EQ(json::parse(text).value().dump(1), text);
    EXPECT_FALSE(json::parse("{").has_value());
    EXPECT_FALSE(json::parse(std::string(1 << 19, '[')).has_value());
}

TEST(json, leaves_out_what_is_deep_and_what_is_named) {
    EXPECT_EQ(json::parse(R"({"a":{"b":{"c":1}},"d":[1],"e":2})", 2, "e").value().dump(),
              R"({"a":{"b":{}},"d":[1]})");
}

TEST(json, refuses_to_be_read_as_what_it_is_not) {
    json j = {{"x", 1.5}};
    EXPECT_THROW((void)j.at("y"), json::exception);
    EXPECT_THROW((void)j["x"].whole(), json::exception);
    EXPECT_THROW((void)j["x"].text(), json::exception);
    EXPECT_THROW((void)json(true).number(), json::exception);
    EXPECT_THROW((void)j.elements(), json::exception);
    EXPECT_THROW(j["x"].push_back(1), json::exception);
    EXPECT_EQ(j["x"].find("a"), nullptr);
}

}  // namespace
}  // namespace nz::test
