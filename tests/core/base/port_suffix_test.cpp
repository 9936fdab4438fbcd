#include "base/port_suffix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace leapp {
namespace {

using testing::ElementsAre;

TEST(PortSuffix, SeparatesNamesThatAreOnBothSides) {
  std::vector<std::string> inputs = {"obs", "h", "c"};
  std::vector<std::string> outputs = {"h", "action", "c"};
  separate_names(inputs, outputs);
  EXPECT_THAT(inputs, ElementsAre("obs", "h_in", "c_in"));
  EXPECT_THAT(outputs, ElementsAre("h_out", "action", "c_out"));
}

TEST(PortSuffix, APortAnswersToItsOwnNameFirst) {
  const std::map<std::string, int> ports = {{"h", 1}, {"h_in", 2}, {"c_in", 3}};
  const auto find = [&](const std::string& name) {
    const auto found = ports.find(name);
    return found == ports.end() ? nullptr : &found->second;
  };
  EXPECT_EQ(*find_as_annotated("h", kInputSuffix, find), 1);
  EXPECT_EQ(*find_as_annotated("h_in", kInputSuffix, find), 2);
  EXPECT_EQ(*find_as_annotated("c", kInputSuffix, find), 3);
  EXPECT_EQ(find_as_annotated("c", kOutputSuffix, find), nullptr);
}

}  // namespace
}  // namespace leapp
