#include "controller/port_layout.h"

#include "support.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

Port port_of(Shape shape, ElementNames names) {
  Port port{"x", DType::kFloat32, std::move(shape), {}};
  port.semantics.element_names = std::move(names);
  return port;
}

TEST(PortLayout, ElementsOfTheLastDimension) {
  const NamedLayout found = find_layout(port_of({1, 3}, ElementNames{Names{"a", "b", "c"}}), {});
  EXPECT_EQ(found.fault, "");
  EXPECT_THAT(found.names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(found.layout.elements, 3U);
  EXPECT_EQ(found.layout.steps, 1U);
  EXPECT_EQ(found.layout.element_stride, 1U);
}

TEST(PortLayout, ASingleElementKeepsItsName) {
  for (const ElementNames& names :
       {ElementNames{Names{"knee"}, {}}, ElementNames{{}, Names{"knee"}},
        ElementNames{Names{"knee"}}, ElementNames{Names{"robot"}, Names{"knee"}}}) {
    EXPECT_THAT(find_layout(port_of({1, 1}, names), {}).names, ElementsAre("knee"));
  }
}

TEST(PortLayout, ATimeAxisBeforeOrAfterTheElements) {
  NamedLayout found = find_layout(port_of({1, 3, 2}, {{}, TemporalAxis{20}, Names{"a", "b"}}), {});
  EXPECT_EQ(found.layout.steps, 3U);
  EXPECT_EQ(found.layout.step_stride, 2U);
  EXPECT_EQ(found.layout.period_ms, 20);
  found = find_layout(port_of({1, 2, 3}, {{}, Names{"a", "b"}, TemporalAxis{20}}), {});
  EXPECT_EQ(found.layout.steps, 3U);
  EXPECT_EQ(found.layout.step_stride, 1U);
  EXPECT_EQ(found.layout.element_stride, 3U);
  EXPECT_THAT(found.names, ElementsAre("a", "b"));
}

TEST(PortLayout, Faults) {
  const auto fault = [](const Port& port) { return find_layout(port, {}).fault; };
  EXPECT_THAT(fault(port_of({2}, {{}, Names{"a", "b"}})), HasSubstr("do not match its shape"));
  EXPECT_THAT(fault(port_of({3}, {TemporalAxis{20}})), HasSubstr("no elements"));
  EXPECT_THAT(fault(port_of({2, 2}, ElementNames{Names{"a", "b"}})), HasSubstr("2 entries"));
  EXPECT_THAT(fault(port_of({1, 3}, ElementNames{Names{"a", "b"}})), HasSubstr("2 element names"));
  EXPECT_THAT(fault(port_of({1, 2}, ElementNames{Names{"a", "a"}})), HasSubstr("twice"));
  Port integer = port_of({1, 1}, ElementNames{Names{"a"}});
  integer.dtype = DType::kInt64;
  EXPECT_THAT(fault(integer), HasSubstr("int64"));
}

TEST(PortLayout, NamesOfQuaternions) {
  Names names = {"w", "x", "y", "z"};
  EXPECT_TRUE(name_quaternion(names, {}));
  EXPECT_THAT(names, ElementsAre("qw", "qx", "qy", "qz"));
  names = {"px", "a", "b", "c", "d"};
  EXPECT_TRUE(name_quaternion(names, QuaternionOrder::kXyzw));
  EXPECT_THAT(names, ElementsAre("px", "qx", "qy", "qz", "qw"));
  EXPECT_FALSE(name_quaternion(names, QuaternionOrder::kWxyz));
  names = {"a", "b", "c", "d"};
  EXPECT_TRUE(name_quaternion(names, {}));
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d"));  // no quaternion
  names = {"x", "qx", "y", "z"};
  EXPECT_TRUE(name_quaternion(names, {}));
  EXPECT_THAT(names, ElementsAre("x", "qx", "y", "z"));
  names = {"a"};
  EXPECT_TRUE(name_quaternion(names, QuaternionOrder::kXyzw));
}

}  // namespace
}  // namespace leapp
