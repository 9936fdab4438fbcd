#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "graph_of.h"
#include "leapp/error.h"
#include "leapp/trace/onnx_export.h"
#include "onnx/reader.h"

namespace leapp {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::GraphOf;
using ::testing::HasSubstr;
using testing::op_types;
using testing::ref;
using ::testing::UnorderedElementsAre;
namespace fs = std::filesystem;

class Exporter : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ =
        fs::temp_directory_path() /
        ("leapp_exporter_" +
         std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".onnx");
  }
  void TearDown() override { fs::remove(file_); }

  onnx::Model exported(const OnnxExportOptions& options = {}) {
    done_ = export_onnx(of_.graph, file_, options);
    return onnx::read_model(file_);
  }

  std::string error(const OnnxExportOptions& options = {}) {
    try {
      export_onnx(of_.graph, file_, options);
    } catch (const Error& caught) {
      code_ = caught.code();
      return caught.what();
    }
    return "";
  }

  ir::ValueId add(ir::ValueId a, ir::ValueId b, Shape shape) {
    return of_.call("aten::add.Tensor",
                    {{"self", ref(a)}, {"other", ref(b)}, {"alpha", std::int64_t{1}}},
                    std::move(shape));
  }

  GraphOf of_;
  fs::path file_;
  OnnxExport done_;
  Code code_ = Code::kInternal;
};

TEST_F(Exporter, KeepsNamesLinesAndModules) {
  of_.module_path = "encoder.0";
  const auto x = of_.input("obs", {1, 2});
  const auto w = of_.weight("encoder.0.weight", {3, 2}, {1, 2, 3, 4, 5, 6});
  const auto y =
      of_.call("aten::linear", {{"input", ref(x)}, {"weight", ref(w)}, {"bias", {}}}, {1, 3});
  of_.graph.add_output("action", y);
  const onnx::Model model = exported({.graph_name = "policy"});
  EXPECT_EQ(model.producer_name, "leapp");
  EXPECT_EQ(model.graph.name, "policy");
  EXPECT_EQ(model.opsets.at(0).version, 20);
  EXPECT_EQ(model.graph.inputs.at(0).name, "obs");
  EXPECT_EQ(model.graph.outputs.at(0).name, "action");
  EXPECT_EQ(model.graph.initializers.at(0).name, "encoder.0.weight");
  const onnx::Node& gemm = model.graph.nodes.at(0);
  EXPECT_EQ(gemm.op_type, "Gemm");
  EXPECT_THAT(gemm.name, HasSubstr("encoder.0.linear"));
  EXPECT_EQ(gemm.doc_string, "policy.py:42 in act");
  EXPECT_THAT(gemm.metadata,
              Contains(std::pair<std::string, std::string>("leapp.op", "aten::linear")));
  EXPECT_THAT(gemm.metadata,
              Contains(std::pair<std::string, std::string>("leapp.module", "encoder.0")));
}

TEST_F(Exporter, TellsApartANameUsedOnBothSides) {
  const auto h = of_.input("h", {2});
  of_.graph.add_output("h", add(h, h, {2}));
  exported();
  EXPECT_THAT(done_.inputs, ElementsAre("h_in"));
  EXPECT_THAT(done_.outputs, ElementsAre("h_out"));
}

TEST_F(Exporter, RefusesPortsThatWouldShareAName) {
  const auto h = of_.input("h", {2});
  const auto other = of_.input("h_in", {2});
  of_.graph.add_output("h", add(h, other, {2}));
  EXPECT_THAT(error(), HasSubstr("two ports would both be called 'h_in'"));
}

TEST_F(Exporter, InputsConstantsAndSharedValuesBecomeOutputs) {
  const auto x = of_.input("x", {2});
  const auto c = of_.weight("c", {1}, {7});
  const auto y = add(x, x, {2});
  of_.graph.add_output("same", x);
  of_.graph.add_output("fixed", c);
  of_.graph.add_output("first", y);
  of_.graph.add_output("second", y);
  const onnx::Model model = exported();
  std::vector<std::string> made;
  for (const onnx::Node& node : model.graph.nodes) made.push_back(node.outputs.at(0));
  EXPECT_THAT(made, UnorderedElementsAre("same", "fixed", "first", "second"));
}

TEST_F(Exporter, LeavesOutWhatNobodyReadsAndMakesEqualNodesOnce) {
  const auto x = of_.input("x", {2});
  const auto a = of_.call("aten::exp", {{"self", ref(x)}}, {2});
  const auto b = of_.call("aten::exp", {{"self", ref(x)}}, {2});
  of_.call("aten::sin", {{"self", ref(x)}}, {2});
  of_.graph.add_output("y", add(a, b, {2}));
  EXPECT_THAT(op_types(exported().graph), ElementsAre("Exp", "Add"));
}

TEST_F(Exporter, FusesProductAndSumOnRequestOnly) {
  const auto x = of_.input("x", {4, 2});
  const auto w = of_.input("w", {2, 3});
  const auto b = of_.input("b", {3});
  const auto product = of_.call("aten::mm", {{"self", ref(x)}, {"mat2", ref(w)}}, {4, 3});
  of_.graph.add_output("y", add(product, b, {4, 3}));
  EXPECT_THAT(op_types(exported().graph), ElementsAre("Gemm"));
  EXPECT_THAT(op_types(exported({.optimize = false}).graph), ElementsAre("MatMul", "Add"));
}

TEST_F(Exporter, AProductThatIsAnOutputIsNotFusedAway) {
  const auto x = of_.input("x", {4, 2});
  const auto w = of_.input("w", {2, 3});
  const auto b = of_.input("b", {3});
  const auto product = of_.call("aten::mm", {{"self", ref(x)}, {"mat2", ref(w)}}, {4, 3});
  of_.graph.add_output("product", product);
  of_.graph.add_output("y", add(product, b, {4, 3}));
  EXPECT_THAT(op_types(exported().graph), ElementsAre("MatMul", "Add"));
}

TEST_F(Exporter, MergesTranspositionsAndReshapes) {
  const auto x = of_.input("x", {2, 3, 4});
  const std::vector<std::int64_t> turn = {1, 2, 0};
  const auto a = of_.call("aten::permute", {{"self", ref(x)}, {"dims", turn}}, {3, 4, 2});
  const auto b = of_.call("aten::permute", {{"self", ref(a)}, {"dims", turn}}, {4, 2, 3});
  const auto c = of_.call("aten::permute", {{"self", ref(b)}, {"dims", turn}}, {2, 3, 4});
  const auto d = of_.call("aten::view", {{"self", ref(c)}, {"size", turn}}, {6, 4});
  of_.graph.add_output("y", of_.call("aten::view", {{"self", ref(d)}, {"size", turn}}, {24}));
  EXPECT_THAT(op_types(exported().graph), ElementsAre("Reshape"));
}

TEST_F(Exporter, AShiftedHistoryNeverCopiesTheWholeBuffer) {
  // h[:, :-1] = h[:, 1:]; h[:, -1] = x, in the form that the graph has.
  const auto h = of_.input("h", {1, 5, 16});
  const auto x = of_.input("x", {1, 16});
  const std::int64_t one = 1;
  const auto tail = of_.call(
      "aten::slice.Tensor",
      {{"self", ref(h)}, {"dim", one}, {"start", one}, {"end", std::int64_t{5}}, {"step", one}},
      {1, 4, 16});
  const auto moved = of_.call("aten::slice_scatter",
                              {{"self", ref(h)},
                               {"src", ref(tail)},
                               {"dim", one},
                               {"start", std::int64_t{0}},
                               {"end", std::int64_t{-1}},
                               {"step", one}},
                              {1, 5, 16});
  const auto written =
      of_.call("aten::select_scatter",
               {{"self", ref(moved)}, {"src", ref(x)}, {"dim", one}, {"index", std::int64_t{-1}}},
               {1, 5, 16});
  of_.graph.add_output("h_next", written);
  EXPECT_THAT(op_types(exported().graph), ElementsAre("Slice", "Reshape", "Concat"));
}

TEST_F(Exporter, SharedWeightsAreStoredOnce) {
  const auto x = of_.input("x", {1, 2});
  const auto w = of_.weight("w", {2, 2}, {1, 2, 3, 4});
  const auto a = of_.call("aten::mm", {{"self", ref(x)}, {"mat2", ref(w)}}, {1, 2});
  of_.graph.add_output("y", of_.call("aten::mm", {{"self", ref(a)}, {"mat2", ref(w)}}, {1, 2}));
  EXPECT_EQ(exported().graph.initializers.size(), 1U);
}

TEST_F(Exporter, NamesTheLineOfAnOperatorWithoutConverter) {
  const auto x = of_.input("x", {2});
  of_.graph.add_output("y", of_.call("mylib::magic", {{"x", ref(x)}}, {2}));
  EXPECT_EQ(error(),
            "mylib::magic (policy.py:42 in act) cannot be exported to ONNX: there is no ONNX "
            "converter for it. Export the node with export_with='jit', or register an ONNX "
            "converter for the operation. [LP502]");
  EXPECT_EQ(code_, Code::kNoOnnx);
}

TEST_F(Exporter, SaysWhichOpsetAnOperatorNeeds) {
  const auto x = of_.input("x", {2}, DType::kInt64);
  of_.graph.add_output("y", of_.call("aten::bitwise_and.Tensor",
                                     {{"self", ref(x)}, {"other", ref(x)}}, {2}, DType::kInt64));
  EXPECT_THAT(error({.opset_version = 17}),
              HasSubstr("needs opset 18 or newer, and the export is for 17. Set "
                        "backend_params={'opset_version': 18}."));
  EXPECT_EQ(code_, Code::kOpset);
  EXPECT_EQ(error({.opset_version = 18}), "");
}

TEST_F(Exporter, RefusesOpsetsItDoesNotWrite) {
  of_.graph.add_output("y", of_.input("x", {2}));
  EXPECT_THAT(error({.opset_version = 16}), HasSubstr("LEAPP writes opset 17 to 23"));
  EXPECT_EQ(code_, Code::kWrongValue);
}

TEST_F(Exporter, RefusesComplexPorts) {
  of_.graph.add_output("y", of_.input("x", {2}, DType::kComplex64));
  EXPECT_THAT(error(), HasSubstr("the port 'x' is complex64, and ONNX Runtime has no complex "
                                 "tensors: pass torch.view_as_real()"));
}

TEST_F(Exporter, RefusesTypesThatNoKernelComputesExactly) {
  const auto x = of_.input("x", {2}, DType::kUInt64);
  of_.graph.add_output("y", of_.call("aten::neg", {{"self", ref(x)}}, {2}, DType::kUInt64));
  EXPECT_THAT(error(), HasSubstr("aten::neg (policy.py:42 in act) cannot be exported to ONNX: "
                                 "ONNX Runtime has no exact Neg for uint64"));
}

TEST_F(Exporter, KnowsItsOperators) {
  EXPECT_TRUE(can_convert_to_onnx("aten::linear"));
  EXPECT_FALSE(can_convert_to_onnx("aten::nothing"));
  EXPECT_THAT(onnx_convertible_ops(), Contains("aten::gru.input"));
}

}  // namespace
}  // namespace leapp
