// Declarations of inputs, states and buffers.
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;
using ::testing::ElementsAre;

using DeclarationsTest = testing::Tracing;

TEST_F(DeclarationsTest, AnInputIsAnotherTensorOverTheSameMemory) {
  begin();
  const Tensor raw = at::ones({2});
  const Tensor x = in("n", raw);
  EXPECT_FALSE(x.is_same(raw));
  EXPECT_TRUE(x.is_alias_of(raw));
  out("n", x * 2);
  raw.zero_();  // the record is a copy
  EXPECT_TRUE(at::equal(first_pass().inputs.at(0), at::ones({2})));
  EXPECT_EQ(node().inputs.at(0).shape, Shape{2});
  EXPECT_EQ(node().inputs.at(0).dtype, DType::kFloat32);
}

TEST_F(DeclarationsTest, AnInputKeepsItsGradient) {
  begin();
  const Tensor raw = at::ones({2}).requires_grad_();
  EXPECT_TRUE(in("n", raw).requires_grad());
  annotate::abandon("n");
}

TEST_F(DeclarationsTest, RefusesWhatIsNoPort) {
  const struct {
    const char* name;
    void (*declare)();
    Code code;
  } table[] = {
      {"no tensor", [] { in("n", {}); }, Code::kPayload},
      {"a sparse tensor", [] { in("n", at::eye(2).to_sparse()); }, Code::kNotDense},
      {"a name twice",
       [] {
         annotate::input_tensors("n", {{"x", at::ones(1)}, {"x", at::ones(1)}});
       },
       Code::kDuplicateName},
      {"no name", [] { in("", at::ones(1)); }, Code::kBadName},
      {"a name with a slash", [] { in("a/b", at::ones(1)); }, Code::kBadName},
      {"a name with a control character", [] { in("a\nb", at::ones(1)); }, Code::kBadName},
      {"a name that is too long", [] { in(std::string(201, 'n'), at::ones(1)); }, Code::kBadName},
      {"a port without a name", [] { in("n", at::ones(1), ""); }, Code::kBadName},
      {"a port with a control character", [] { in("n", at::ones(1), "\x7f"); }, Code::kBadName},
      {"a port that is no UTF-8", [] { in("n", at::ones(1), "\xff"); }, Code::kBadName},
      {"a port's name that is too long", [] { in("n", at::ones(1), std::string(201, 'x')); },
       Code::kBadName},
      {"extra keys that go too deep",
       [] {
         Metadata deep;
         for (int i = 0; i < 40; ++i) deep = {Metadata::List{deep}};
         annotate::input_tensors("n", {{"x", at::ones(1), {{}, {}, {{"key", deep}}}}});
       },
       Code::kWrongValue},
      {"a state of no node",
       [] {
         annotate::state_tensors("n", {{"h", at::ones(1)}});
       },
       Code::kNodeNotOpen},
      {"a buffer of no node",
       [] {
         annotate::register_buffer("n", {{"h", at::ones(1)}});
       },
       Code::kNodeNotOpen},
  };
  begin();
  for (const auto& line : table) {
    EXPECT_EQ(code_of(line.declare), line.code) << line.name;
    EXPECT_TRUE(session::Session::instance().nodes().empty()) << line.name;
  }
}

TEST_F(DeclarationsTest, ACallThatFailsLeavesNoInputBehind) {
  begin();
  in("n", at::ones({2}));
  annotate::abandon("n");
  in("another", at::ones({2}));
  EXPECT_EQ(code_of([] {
              annotate::input_tensors("n", {{"a", at::ones({2})}, {"a", at::ones({2})}});
            }),
            Code::kDuplicateName);
  EXPECT_TRUE(node().inputs.empty());
  pass();
  EXPECT_EQ(first_pass().inputs.size(), 1U);
}

TEST_F(DeclarationsTest, InputsAndStatesShareTheirNames) {
  begin();
  in("n", at::ones(1));
  EXPECT_EQ(code_of([] {
              annotate::state_tensors("n", {{"x", at::ones(1)}});
            }),
            Code::kDuplicateName);
}

TEST_F(DeclarationsTest, ALaterPassHasTheSameInputs) {
  begin();
  pass();
  EXPECT_EQ(code_of([] { in("n", at::ones({3})); }), Code::kNewSignature);
  EXPECT_EQ(code_of([] { in("n", at::ones({2}, at::kLong)); }), Code::kNewSignature);
  EXPECT_EQ(code_of([] { in("n", at::ones({2}), "z"); }), Code::kNewSignature);
  EXPECT_FALSE(front_end::any_open());
  annotate::input_tensors("n", {{"x", at::ones({2}), {"state/joint/position", {}, {}}}});
  EXPECT_THAT(codes(), ElementsAre(Code::kLaterPassIgnored));
}

TEST_F(DeclarationsTest, AStateIsUpdatedAsItWasDeclared) {
  begin();
  in("n", at::ones({2}));
  annotate::state_tensors("n", {{"h", at::zeros({2})}});
  const auto update = [](const std::string& name, const Tensor& value) {
    return code_of([&] { annotate::update_state("n", {{name, value}}); });
  };
  EXPECT_EQ(update("c", at::zeros({2})), Code::kUnknownState);
  EXPECT_EQ(update("h", at::zeros({3})), Code::kStateMismatch);
  EXPECT_EQ(update("h", at::zeros({2}, at::kLong)), Code::kStateMismatch);
  EXPECT_EQ(update("h", at::zeros({2})), std::nullopt);
}

TEST_F(DeclarationsTest, AnUpdateCountsAsItIsWhenItIsMade) {
  begin();
  const Tensor x = in("n", at::ones({2}));
  const Tensor h = annotate::state_tensors("n", {{"h", at::zeros({2})}})[0];
  Tensor next = h + x;
  annotate::update_state("n", {{"h", next}});
  next.add_(10);
  out("n", next);
  const session::Declared& state = first_pass().states.at(0);
  EXPECT_TRUE(at::equal(state.initial, at::zeros({2})));
  EXPECT_TRUE(at::equal(state.updated, at::ones({2})));
  EXPECT_NE(state.after, first_pass().recording.outputs.at(0).var);
}

TEST_F(DeclarationsTest, AStateThatIsNeverUpdatedIsAnInput) {
  begin();
  const Tensor x = in("n", at::ones({2}));
  const Tensor h = annotate::state_tensors("n", {{"h", at::zeros({2})}})[0];
  out("n", x + h);
  ASSERT_EQ(first_pass().recording.inputs.size(), 2U);
  EXPECT_EQ(first_pass().recording.inputs[1].name, "h");
  EXPECT_TRUE(at::equal(first_pass().inputs.at(1), at::zeros({2})));
}

TEST_F(DeclarationsTest, BuffersAreWrittenInPlaceOrReplaced) {
  begin();
  const Tensor x = in("n", at::ones({2}));
  Tensor written = at::zeros({2});
  const Tensor read = at::zeros({2});
  Tensor replaced = at::zeros({2});
  annotate::register_buffer("n", {{"written", written}, {"read", read}});
  annotate::module("n", {{"replaced", replaced}}, [&] { return std::vector<Tensor>{replaced}; });
  written.add_(x);
  replaced = replaced + x;
  out("n", x + written + read + replaced);
  const auto& buffers = first_pass().buffers;
  ASSERT_EQ(buffers.size(), 3U);
  EXPECT_EQ(buffers[0].after, buffers[0].before);
  EXPECT_EQ(buffers[1].after, session::kNoId);
  EXPECT_NE(buffers[2].after, session::kNoId);
  EXPECT_NE(buffers[2].after, buffers[2].before);
}

}  // namespace
}  // namespace leapp
