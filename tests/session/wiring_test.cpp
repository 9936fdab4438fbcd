// The sources of inputs.
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using session::NodePort;
using session::PortId;
using testing::code_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WiringTest : public testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
  }
  static const NodePort& input(const std::string& name) { return node(name).inputs.at(0); }
};

TEST_F(WiringTest, AnOutputThatIsTakenInIsTheSource) {
  for (int i = 0; i < 2; ++i) out("b", in("b", pass("a")) * 3);
  EXPECT_EQ(input("b").source, (PortId{node("a").id, "y"}));
  EXPECT_EQ(input("b").age.first().pass, 0);
  EXPECT_EQ(input("b").age.reads(), 2);
  EXPECT_EQ(input("b").age.distance(), 0);
  EXPECT_EQ(input("a").source, std::nullopt);
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(WiringTest, WhatComesFromANodeButIsNoOutputIsNamed) {
  const struct {
    const char* name;
    void (*run)();
    Code code;
  } table[] = {
      {"another type", [] { in("b", pass("a").view(at::kInt)); }, Code::kReshapedWire},
      {"a value inside",
       [] {
         const Tensor inside = in("a", at::ones({2})) * 2;
         out("a", inside + 1);
         in("b", inside);
       },
       Code::kNotAnOutput},
  };
  for (const auto& line : table) {
    line.run();
    EXPECT_THAT(codes(), ElementsAre(line.code)) << line.name;
    EXPECT_EQ(input("b").source, std::nullopt) << line.name;
    end();
    begin();
  }
}

TEST_F(WiringTest, AnotherShapeIsComputingBetweenNodes) {
  out("b", in("b", pass("a").view({2, 1})));
  ASSERT_EQ(first_pass("b").between.size(), 1U);
  EXPECT_EQ(first_pass("b").between[0].detours.at(0).op, "aten::reshape");
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(WiringTest, FeedbackHasASourceFromTheSecondPassOn) {
  Tensor fed = at::zeros({2});
  for (int i = 0; i < 3; ++i) fed = out("n", in("n", fed) + 1);
  EXPECT_EQ(input("n").source, (PortId{node().id, "y"}));
  EXPECT_EQ(input("n").age.first().pass, 1);
  EXPECT_EQ(input("n").age.reads(), 2);
  EXPECT_EQ(input("n").age.distance(), 1);
  out("n", in("n", at::zeros({2})) + 1);  // a new episode begins
  EXPECT_EQ(input("n").age.reads(), 2);
}

TEST_F(WiringTest, APortHasOneSource) {
  const Tensor a = pass("a");
  const Tensor b = pass("b");
  out("c", in("c", a) * 2);
  EXPECT_EQ(code_of([&] { in("c", b); }), Code::kNewSignature);
  EXPECT_EQ(code_of([&] { in("c", at::ones({2})); }), Code::kNewSignature);
  EXPECT_EQ(code_of([&] { in("c", a); }), std::nullopt);
}

TEST_F(WiringTest, MirroredTagsConnectWhatWasCopiedUnseen) {
  const Tensor y = pass("a");
  const Tensor copy = at::full({2}, 2.0);
  EXPECT_EQ(code_of([&] { annotate::mirror_leapp_tags(y, at::zeros({2})); }),
            Code::kMirrorMismatch);
  EXPECT_EQ(code_of([&] { annotate::mirror_leapp_tags(y, at::full({2}, 2.0, at::kDouble)); }),
            Code::kMirrorMismatch);
  annotate::mirror_leapp_tags(y, copy);
  out("b", in("b", copy) * 3);
  EXPECT_EQ(input("b").source, (PortId{node("a").id, "y"}));
}

TEST_F(WiringTest, AMirrorMayHoldNaN) {
  const Tensor y = out("a", in("a", at::full({2}, NAN)) * 2);
  const Tensor copy = at::full({2}, NAN);
  annotate::mirror_leapp_tags(y, copy);
  out("b", in("b", copy) * 3);
  EXPECT_EQ(input("b").source, (PortId{node("a").id, "y"}));
}

TEST_F(WiringTest, InsideANodeAMirrorIsTraced) {
  const Tensor x = in("n", at::ones({2}));
  const Tensor copy = at::ones({2});
  annotate::mirror_leapp_tags(x, copy);
  out("n", copy * 2);
  EXPECT_EQ(node().completed, 1);
}

}  // namespace
}  // namespace leapp
