#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "graph_of.h"
#include "leapp/error.h"
#include "leapp/trace/onnx_converter.h"
#include "leapp/trace/onnx_export.h"
#include "onnx/reader.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using testing::GraphOf;
using ::testing::HasSubstr;
using testing::op_types;
using testing::ref;

class Custom : public ::testing::Test {
 protected:
  Custom() : file_(std::filesystem::temp_directory_path() / "leapp_custom_test.onnx") {
    const auto x = of_.input("x", {2});
    of_.graph.add_output("y", of_.call("mylib::softclip", {{"x", ref(x)}, {"limit", 2.5}}, {2}));
  }
  ~Custom() override {
    remove_onnx_converter("mylib::softclip");
    std::filesystem::remove(file_);
  }

  onnx::Model exported() {
    export_onnx(of_.graph, file_);
    return onnx::read_model(file_);
  }

  std::string error_with(OnnxConverter converter) {
    register_onnx_converter("mylib::softclip", std::move(converter));
    try {
      exported();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  GraphOf of_;
  std::filesystem::path file_;
};

TEST_F(Custom, ConvertsAnOperatorOfOnesOwn) {
  EXPECT_FALSE(can_convert_to_onnx("mylib::softclip"));
  register_onnx_converter("mylib::softclip", [](OnnxOp& op) {
    const float limit = static_cast<float>(op.number("limit"));
    const OnnxValue bound = op.constant({&limit, DType::kFloat32, {}});
    const OnnxValue ratio = op.emit("Div", {op.tensor("x"), bound});
    EXPECT_EQ(ratio.shape(), Shape{2});
    op.set_result(0, op.emit("Mul", {op.emit("Tanh", {ratio}), bound}));
  });
  EXPECT_TRUE(can_convert_to_onnx("mylib::softclip"));
  EXPECT_THAT(op_types(exported().graph), ElementsAre("Div", "Tanh", "Mul"));
}

TEST_F(Custom, MayUseAnotherDomain) {
  register_onnx_converter("mylib::softclip", [](OnnxOp& op) {
    op.set_result(0, op.emit("SoftClip", {op.tensor("x")}, {{"limit", 2.5F}, {"mode", "fast"}},
                             {.domain = "com.mylib", .domain_version = 3}));
  });
  const onnx::Model model = exported();
  EXPECT_EQ(model.graph.nodes.at(0).domain, "com.mylib");
  ASSERT_EQ(model.opsets.size(), 2U);
  EXPECT_EQ(model.opsets[1].domain, "com.mylib");
  EXPECT_EQ(model.opsets[1].version, 3);
}

// Rewrites know the inputs and attributes of our own nodes only.
TEST_F(Custom, NodesWithTheNameOfAnotherOperatorAreNotRewritten) {
  struct Case {
    const char* name;
    const char* before;  // an operator whose result the custom node reads; empty for an input
    const char* after;   // an operator that reads the result
    std::vector<GraphOf::Named> arguments;
    Shape shape;
    std::vector<std::string> op_types;
  };
  const std::vector<std::int64_t> turned = {1, 0};
  const std::vector<std::int64_t> flat = {4};
  const std::vector<Case> cases = {
      {"Add", "aten::mm", "", {}, {}, {"MatMul", "Add"}},
      {"Gemm", "", "", {}, {}, {"Gemm"}},
      {"Reshape", "", "aten::view", {{"size", flat}}, {4}, {"Reshape", "Reshape"}},
      {"Transpose", "", "aten::permute", {{"dims", turned}}, {2, 2}, {"Transpose", "Transpose"}},
      {"Transpose",
       "",
       "aten::select.int",
       {{"dim", std::int64_t{0}}, {"index", std::int64_t{1}}},
       {2},
       {"Transpose", "Slice", "Reshape"}},
      {"Concat",
       "",
       "aten::slice.Tensor",
       {{"dim", std::int64_t{0}},
        {"start", std::int64_t{0}},
        {"end", std::int64_t{1}},
        {"step", std::int64_t{1}}},
       {1, 2},
       {"Concat", "Slice"}},
  };
  for (const char* domain : {"", "com.mylib"}) {
    for (const Case& each : cases) {
      SCOPED_TRACE(std::string(each.name) + " of '" + domain + "' and " + each.after);
      register_onnx_converter("mylib::softclip", [&](OnnxOp& op) {
        op.set_result(0, op.emit(each.name, {op.tensor("x")}, {}, {.domain = domain}));
      });
      GraphOf of;
      ir::ValueId x = of.input("x", {2, 2});
      if (*each.before != '\0') {
        x = of.call(each.before, {{"self", ref(x)}, {"mat2", ref(of.input("w", {2, 2}))}}, {2, 2});
      }
      ir::ValueId y = of.call("mylib::softclip", {{"x", ref(x)}}, {2, 2});
      if (*each.after != '\0') {
        std::vector<GraphOf::Named> arguments = {{"self", ref(y)}};
        arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
        y = of.call(each.after, arguments, each.shape);
      }
      of.graph.add_output("y", y);
      export_onnx(of.graph, file_);
      EXPECT_EQ(op_types(onnx::read_model(file_).graph), each.op_types);
    }
  }
}

TEST_F(Custom, ReplacesOneOfOurOwnAndGivesItBack) {
  GraphOf of;
  const auto x = of.input("x", {2});
  of.graph.add_output("y", of.call("aten::exp", {{"self", ref(x)}}, {2}));
  register_onnx_converter("aten::exp", [](OnnxOp& op) {
    op.set_result(0, op.emit("MyExp", {op.tensor("self")}, {}, {.domain = "com.mylib"}));
  });
  export_onnx(of.graph, file_);
  EXPECT_THAT(op_types(onnx::read_model(file_).graph), ElementsAre("MyExp"));
  EXPECT_TRUE(remove_onnx_converter("aten::exp"));
  EXPECT_FALSE(remove_onnx_converter("aten::exp"));
  export_onnx(of.graph, file_);
  EXPECT_THAT(op_types(onnx::read_model(file_).graph), ElementsAre("Exp"));
}

TEST_F(Custom, SaysWhatAConverterDoesWrong) {
  EXPECT_THAT(error_with([](OnnxOp& op) { op.tensor("y"); }),
              HasSubstr("reads a parameter 'y', and the operator has: x, limit"));
  EXPECT_THAT(error_with([](OnnxOp& op) { op.text("limit"); }),
              HasSubstr("reads 'limit' as a text, and it is declared as Scalar"));
  EXPECT_THAT(error_with([](OnnxOp&) {}), HasSubstr("its converter gave result 0 no value"));
  EXPECT_THAT(error_with([](OnnxOp& op) {
                op.set_result(
                    0, op.emit("Shape", {op.tensor("x")}, {}, {.outputs = {{DType::kInt64, {1}}}}));
              }),
              HasSubstr("the converter returns int64[1], but PyTorch returns float32[2]"));
  EXPECT_THAT(error_with([](OnnxOp& op) { op.set_result(1, op.tensor("x")); }),
              HasSubstr("sets result 1 of 1"));
  EXPECT_EQ(error_with([](OnnxOp& op) { op.fail("it is too soft", "Use a harder one."); }),
            "mylib::softclip (policy.py:42 in act) cannot be exported to ONNX: it is too soft. "
            "Use a harder one. [LP502]");
}

TEST_F(Custom, WantsAQualifiedName) {
  EXPECT_THROW(register_onnx_converter("softclip", [](OnnxOp&) {}), Error);
  EXPECT_THROW(register_onnx_converter("mylib::softclip", {}), Error);
}

}  // namespace
}  // namespace leapp
