#include "session/ports.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "placed_error_of.h"

namespace leapp::session {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::refused;
using ::testing::SizeIs;

TEST(PortsTest, DescribeTypeShapeAndSemantics) {
  const NodePort port =
      describe({"x", at::ones({1, 4}, at::kLong), {"state/joint/position", {}, {}}});
  EXPECT_EQ(port.dtype, DType::kInt64);
  EXPECT_EQ(port.shape, (Shape{1, 4}));
  EXPECT_EQ(port.semantics.kind, "state/joint/position");
  EXPECT_EQ(describe(port), "'x' int64 [1, 4]");
}

TEST(PortsTest, KeepElementNamesAsTheyAreGiven) {
  const ElementNames named = {std::monostate{}, std::vector<std::string>{"a", "b"}};
  const NodePort port = describe({"x", at::ones({1, 2}), {{}, named, {}}});
  EXPECT_EQ(port.semantics.element_names, named);
}

TEST(PortsTest, RefuseTensorsWithoutDenseElements) {
  EXPECT_EQ(refused([] { describe({"x", at::eye(2).to_sparse()}); }), Code::kNotDense);
  EXPECT_EQ(refused([] { describe({"x", at::empty({2}, at::kMeta)}); }), Code::kNotDense);
  EXPECT_EQ(refused([] { describe({"", at::ones({2})}); }), Code::kBadName);
}

TEST(PortsTest, MatchThoseOfTheFirstPass) {
  Node node;
  node.name = "n";
  std::vector<NodePort> ports = {describe({"x", at::ones({2})})};
  MessageQueue messages;
  const auto match = [&](const TensorSemantics& entry) -> NodePort& {
    return match_port(node, ports, describe(entry), "input", messages, {});
  };
  EXPECT_EQ(&match({"x", at::zeros({2})}), &ports[0]);
  EXPECT_EQ(refused([&] { match({"x", at::ones({3})}); }), Code::kNewSignature);
  EXPECT_EQ(refused([&] { match({"x", at::ones({2}, at::kLong)}); }), Code::kNewSignature);
  EXPECT_EQ(refused([&] { match({"z", at::ones({2})}); }), Code::kNewSignature);
  EXPECT_THAT(messages.take(), IsEmpty());
  match({"x", at::ones({2}), {"state/joint/position", {}, {}}});
  const auto warned = messages.take();
  ASSERT_THAT(warned, SizeIs(1));
  EXPECT_EQ(warned[0].code, Code::kLaterPassIgnored);
  EXPECT_THAT(warned[0].text, HasSubstr("'x'"));
}

}  // namespace
}  // namespace leapp::session
