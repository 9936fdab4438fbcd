#include "bundle/json_tree.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace leapp {
namespace {

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(JsonTree, KeepsTheOrderOfKeys) {
  EXPECT_EQ(parse_json(R"({"b": [1, {"c": null}], "a": 2})").dump(),
            R"({"b":[1,{"c":null}],"a":2})");
}

TEST(JsonTree, WhatIsNoJsonIsDiscarded) {
  for (const char* text : {"", "{", "{]", "nul", "\"\xff\""}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
  }
}

TEST(JsonTree, NothingNestsDeeperThanItsReadersCanGo) {
  EXPECT_EQ(parse_json(nested(100)).dump(), nested(100));
  EXPECT_TRUE(parse_json(nested(102)).is_discarded());
  EXPECT_TRUE(parse_json(nested(1'000'000)).is_discarded());
  EXPECT_TRUE(parse_json("{\"a\": " + nested(1000) + ", \"b\": 1}").is_discarded());
}

}  // namespace
}  // namespace leapp
