// Checks of output_tensors(), and the record of a pass that ends.
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;
using ::testing::ElementsAre;

class CompletionTest : public testing::Tracing {
 protected:
  // Starts a pass with an input x and a state h, which it updates.
  static void with_state(const NamedTensors& outputs = {}, bool update = true) {
    const Tensor x = in("n", at::ones({2}));
    const Tensor h = annotate::state_tensors("n", {{"h", at::ones({2})}})[0];
    if (update) annotate::update_state("n", {{"h", h + x}});
    NamedTensors all = {{"y", x * h}};
    all.insert(all.end(), outputs.begin(), outputs.end());
    annotate::output_tensors("n", all, {.export_with = "jit"});
  }
};

TEST_F(CompletionTest, RefusesWhatNoNodeCanBe) {
  const struct {
    const char* name;
    void (*close)(const Tensor& x);
    Code code;
  } table[] = {
      {"an output twice",
       [](const Tensor& x) {
         annotate::output_tensors("n", {{"y", x + 1}, {"y", x + 2}});
       },
       Code::kDuplicateName},
      {"an output and a static one of a name",
       [](const Tensor& x) {
         annotate::output_tensors("n", {{"y", x + 1}}, {.static_outputs = {{"y", at::ones(1)}}});
       },
       Code::kDuplicateName},
      {"an output with the name of a state",
       [](const Tensor& x) {
         annotate::state_tensors("n", {{"h", at::ones({2})}});
         annotate::output_tensors("n", {{"h", x + 1}});
       },
       Code::kDuplicateName},
      {"a static output that varies",
       [](const Tensor& x) {
         annotate::output_tensors("n", {{"y", x + 1}}, {.static_outputs = {{"z", x + 2}}});
       },
       Code::kStaticIsTraced},
      {"no output", [](const Tensor&) { annotate::output_tensors("n", {}); },
       Code::kNothingToExport},
      {"a constant", [](const Tensor&) { out("n", at::ones({2})); }, Code::kNotTraced},
      {"no such backend",
       [](const Tensor& x) {
         annotate::output_tensors("n", {{"y", x + 1}}, {.export_with = "tflite"});
       },
       Code::kUnknownBackend},
  };
  for (const auto& line : table) {
    begin();
    const Tensor x = in("n", at::ones({2}));
    EXPECT_EQ(code_of([&] { line.close(x); }), line.code) << line.name;
    EXPECT_FALSE(node().complete()) << line.name;
    end();
  }
}

TEST_F(CompletionTest, RefusesALaterPassWithOtherPorts) {
  const std::pair<const char*, void (*)()> table[] = {
      {"another output",
       [] {
         with_state({{"z", at::ones({2})}});
       }},
      {"a missing output",
       [] {
         const Tensor x = in("n", at::ones({2}));
         const Tensor h = annotate::state_tensors("n", {{"h", at::ones({2})}})[0];
         annotate::update_state("n", {{"h", h + x}});
         annotate::output_tensors("n", {}, {.export_with = "jit"});
       }},
      {"a missing state", [] { out("n", in("n", at::ones({2})) + 1); }},
      {"a state that is not updated", [] { with_state({}, false); }},
      {"a missing input",
       [] {
         annotate::input_tensors("n", {});
         const Tensor h = annotate::state_tensors("n", {{"h", at::ones({2})}})[0];
         out("n", annotate::update_state("n", {{"h", h + 1}})[0]);
       }},
      {"another shape", [] { out("n", in("n", at::ones({2})).repeat(2)); }},
      {"another type", [] { out("n", in("n", at::ones({2})).to(at::kDouble)); }},
      {"another name", [] { out("n", in("n", at::ones({2})) + 1, "z"); }},
  };
  for (const auto& [name, later] : table) {
    begin();
    with_state();
    EXPECT_EQ(code_of(later), Code::kNewSignature) << name;
    EXPECT_EQ(node().completed, 1) << name;
    end();
  }
}

TEST_F(CompletionTest, OptionsOfALaterPassChangeNothing) {
  begin();
  pass();
  annotate::output_tensors("n", {{"y", in("n", at::ones({2})) * 2}}, {.export_with = "onnx"});
  EXPECT_EQ(node().export_with, "jit");
  EXPECT_THAT(codes(), ElementsAre(Code::kLaterPassIgnored));
}

TEST_F(CompletionTest, NodesCountInTheOrderTheyFirstCompleted) {
  begin();
  const Tensor x = in("a", at::ones({2}));
  pass("b");
  out("a", x + 1);
  pass("b");
  EXPECT_EQ(node("a").completion, 1);
  EXPECT_EQ(node("b").completion, 0);
  EXPECT_EQ(node("b").completed, 2);
}

TEST_F(CompletionTest, KeepsOutputsAndStaticOnesBehindThem) {
  begin();
  const Tensor x = in("n", at::ones({2}));
  annotate::output_tensors("n", {{"y", x + 1}},
                           {.static_outputs = {{"gains", at::full({3}, 4.0)}}});
  ASSERT_EQ(node().outputs.size(), 2U);
  EXPECT_FALSE(node().outputs[0].is_static);
  EXPECT_TRUE(node().outputs[1].is_static);
  ASSERT_EQ(first_pass().outputs.size(), 2U);
  EXPECT_TRUE(at::equal(first_pass().outputs[0], at::full({2}, 2.0)));
  EXPECT_TRUE(at::equal(first_pass().outputs[1], at::full({3}, 4.0)));
}

TEST_F(CompletionTest, KeepsInputsInTheOrderOfTheFirstPass) {
  begin();
  for (const bool turned : {false, true}) {
    NamedTensors given = {{"a", at::ones({2})}, {"b", at::full({2}, 2.0)}};
    if (turned) std::swap(given[0], given[1]);
    const auto values = annotate::input_tensors("n", given);
    out("n", values[0] - values[1]);
  }
  for (const session::Pass& each : node().passes) {
    EXPECT_EQ(each.recording.inputs.at(0).name, "a");
    EXPECT_TRUE(at::equal(each.inputs.at(0), at::ones({2})));
    EXPECT_TRUE(at::equal(each.inputs.at(1), at::full({2}, 2.0)));
  }
}

TEST_F(CompletionTest, CanBeTriedAgainAfterAnError) {
  begin();
  const Tensor x = in("n", at::ones({2}));
  EXPECT_EQ(code_of([] { annotate::output_tensors("n", {}); }), Code::kNothingToExport);
  EXPECT_EQ(code_of([&] {
              annotate::output_tensors("n", {{"y", x + 1}, {"y", x + 2}});
            }),
            Code::kDuplicateName);
  out("n", x + 1);
  EXPECT_EQ(node().outputs.size(), 1U);
  EXPECT_EQ(first_pass().inputs.size(), 1U);
}

TEST_F(CompletionTest, KeepsOnlyTheFirstPasses) {
  start({.name = "g", .save_path = folder_.string(), .max_cached_io = 1});
  for (int i = 0; i < 4; ++i) pass();
  EXPECT_EQ(node().completed, 4);
  EXPECT_EQ(node().passes.size(), 2U);
}

TEST_F(CompletionTest, OfANodeThatIsNotTracedItKeepsTheFirstValues) {
  start({.name = "g", .save_path = folder_.string(), .non_traced = {"n"}});
  for (int i = 0; i < 2; ++i) pass();
  EXPECT_FALSE(node().traced);
  ASSERT_EQ(node().passes.size(), 1U);
  EXPECT_EQ(first_pass().recording.tape, nullptr);
  EXPECT_TRUE(at::equal(first_pass().inputs.at(0), at::ones({2})));
  EXPECT_TRUE(at::equal(first_pass().outputs.at(0), at::full({2}, 2.0)));
}

TEST_F(CompletionTest, OfANodeThatIsNotTracedAStateThatIsNeverUpdatedIsAnInput) {
  start({.name = "g", .save_path = folder_.string(), .non_traced = {"n"}});
  with_state({}, false);
  ASSERT_EQ(first_pass().inputs.size(), 2U);
  EXPECT_EQ(first_pass().recording.inputs.at(1).name, "h");
  EXPECT_TRUE(at::equal(first_pass().inputs[1], at::ones({2})));
}

}  // namespace
}  // namespace leapp
