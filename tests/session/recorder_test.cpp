// Records of operators inside nodes.
#include <thread>

#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RecorderTest : public testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
  }
};

TEST_F(RecorderTest, EagerValuesAreBitIdentical) {
  at::manual_seed(0);
  const Tensor x = at::randn({3, 3});
  const auto work = [](const Tensor& t) {
    return (t.matmul(t.t()).softmax(-1) + t.sin()).cumsum(0);
  };
  const Tensor y = out("n", work(in("n", x)));
  stop();
  EXPECT_TRUE(at::equal(y, work(x)));
}

TEST_F(RecorderTest, CallsAreOnTheTapeInOrder) {
  const Tensor weight = at::ones({2});
  const Tensor x = in("n", at::ones({2}));
  out("n", (x * weight).tanh());
  std::vector<std::string> names;
  for (const trace::Call& call : first_pass().tape().calls()) {
    names.push_back(call.op.schema().name());
    EXPECT_EQ(call.node, node().id);
  }
  EXPECT_THAT(names, ElementsAre("aten::mul", "aten::tanh"));
}

TEST_F(RecorderTest, ATracedValueThatBecomesANumberOrAChoiceIsNamed) {
  const Tensor x = in("n", at::ones({2}));
  const double number = x[0].item<double>();
  EXPECT_THAT(codes(), ElementsAre(Code::kNumber));
  const bool choice = x.sum().is_nonzero();
  EXPECT_THAT(codes(), ElementsAre(Code::kNumber, Code::kBranch));
  out("n", choice ? x * number : x);
  EXPECT_TRUE(node().read_values);
  EXPECT_THAT(first_pass().escapes, IsEmpty());
}

TEST_F(RecorderTest, AnotherValueThatBecomesANumberIsKeptWithThePass) {
  const Tensor gain = at::full({1}, 3.0);
  const Tensor x = in("n", at::ones({2}));
  out("n", x * gain.item<double>());
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_FALSE(node().read_values);
  ASSERT_EQ(first_pass().escapes.size(), 1U);
  EXPECT_EQ(first_pass().escapes[0].code, Code::kNumber);
}

TEST_F(RecorderTest, RandomNumbersThatNoInputDecidesAreConstants) {
  begin_with(Noise::kModel);
  const Tensor x = in("n", at::ones({2}));
  Tensor noise = at::zeros({2});
  noise.normal_();
  out("n", x + at::rand({2}) + noise);
  std::vector<std::string> drawn;
  for (const session::BakedValue& each : first_pass().baked) drawn.push_back(each.random);
  EXPECT_THAT(drawn, ::testing::UnorderedElementsAre("aten::rand", "aten::normal_"));
}

TEST_F(RecorderTest, ARandomNumberThatBecomesANumberIsNamed) {
  begin_with(Noise::kModel);
  const Tensor x = in("n", at::ones({2}));
  out("n", x * at::rand({1}).item<double>());
  EXPECT_THAT(codes(), ::testing::Contains(Code::kRandomOutside));
}

TEST_F(RecorderTest, AValueOfAnotherNodeThatIsNoInputIsKeptWithThePass) {
  const Tensor y = pass("a");
  out("b", in("b", at::ones({2})) + y);
  ASSERT_EQ(first_pass("b").baked.size(), 1U);
  EXPECT_EQ(first_pass("b").baked[0].source, (session::PortId{node("a").id, "y"}));
  EXPECT_EQ(first_pass("b").baked[0].random, "");
}

TEST_F(RecorderTest, TwoOpenNodesMustNotMix) {
  const Tensor a = in("a", at::ones({2}));
  const Tensor b = in("b", at::ones({2}));
  EXPECT_EQ(code_of([&] { static_cast<void>(a + b); }), Code::kMixedNodes);
  EXPECT_EQ(code_of([&] { static_cast<void>(at::cat({a, b})); }), Code::kMixedNodes);
  out("a", a + 1);
  out("b", b + 1);
}

TEST_F(RecorderTest, ANodeIsTracedFromOneThread) {
  const Tensor x = in("n", at::ones({2}));
  std::optional<Code> found;
  std::thread([&] {
    in("m", at::ones({2}));
    found = code_of([&] { static_cast<void>(x + 1); });
    annotate::abandon("m");
  }).join();
  EXPECT_EQ(found, Code::kWrongThread);
}

TEST_F(RecorderTest, MemoryThatAnOperatorHandsOutIsFilledLater) {
  const Tensor x = in("n", at::ones({2}));
  const Tensor filled = at::empty({2});
  filled.mutable_data_ptr<float>()[0] = 3;
  filled.mutable_data_ptr<float>()[1] = 4;
  out("n", x * filled);
  const trace::Tape& tape = first_pass().tape();
  const trace::VarId var = tape.args_of(tape.calls().at(0))[1].var;
  EXPECT_TRUE(at::equal(tape.content(var), at::tensor({3.0F, 4.0F})));
  EXPECT_THAT(first_pass().memory, IsEmpty());  // created during the pass, so it is not state
}

}  // namespace
}  // namespace leapp
