#include "export/torchscript/torchscript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <filesystem>
#include <string>

#include "../../ir/graph_builder.h"
#include "interop/convert.h"
#include "leapp/error.h"

namespace leapp::torchscript {
namespace {

// A full device: it accepts a few bytes into its buffer and refuses the rest.
TEST(TorchScript, AFullDiskIsAnError) {
  ir::Graph graph;
  const ir::TensorType type{DType::kFloat32, {3}, "cpu"};
  const ir::ValueId x = graph.add_input("x", type);
  graph.set_outputs({{"y", ir::testing::add_op(graph, "aten::relu", {x}, type)}});
  for (const std::string file : {"/dev/full", "/no/such/folder/n.pt"}) {
    try {
      write(graph, file, {});
      FAIL() << file << " took it";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kIo);
      EXPECT_THAT(error.what(), testing::HasSubstr("cannot write the TorchScript file " + file));
    }
  }
}

TEST(TorchScript, OneOutputIsATensorAndMoreAreATuple) {
  const std::string file = ::testing::TempDir() + "outputs.pt";
  const at::Tensor value = at::tensor({-1.0F, 0.0F, 2.0F});
  for (const std::size_t count : {0U, 1U, 2U}) {
    ir::Graph graph;
    const ir::TensorType type{DType::kFloat32, {3}, "cpu"};
    const ir::ValueId x = graph.add_input("x", type);
    const ir::ValueId y = ir::testing::add_op(graph, "aten::relu", {x}, type);
    for (std::size_t i = 0; i < count; ++i) graph.add_output("y" + std::to_string(i), y);
    write(graph, file, {});
    const c10::IValue result = torch::jit::load(file).forward({value});
    if (count == 1) {
      EXPECT_TRUE(at::equal(result.toTensor(), value.relu()));
    } else {
      EXPECT_EQ(result.toTuple()->elements().size(), count);
    }
  }
  std::filesystem::remove(file);
}

TEST(TorchScript, ATruthValueMayStandForANumber) {
  const std::string file = ::testing::TempDir() + "flags.pt";
  const at::Tensor mask = at::tensor({1, 0, 1}).to(at::kBool);
  const at::Tensor x = at::tensor({1.0F, -2.0F, 3.0F});
  const ir::Argument none = std::monostate{};
  const struct {
    const char* name;
    const char* overload;
    at::Tensor input;
    std::vector<ir::Argument> rest;
    at::Tensor expected;
  } table[] = {
      {"aten::eq", "Scalar", mask, {true}, mask},
      {"aten::mul", "Scalar", x, {true}, x},
      {"aten::clamp", "", x, {false, true}, at::tensor({1.0F, 0.0F, 1.0F})},
      {"aten::full_like", "", x, {true, none, none, none, none, none}, at::ones({3})},
  };
  for (const auto& line : table) {
    SCOPED_TRACE(line.name);
    ir::Graph graph;
    ir::Op op;
    op.signature = interop::signature_of(
        c10::Dispatcher::singleton().findSchemaOrThrow(line.name, line.overload));
    op.arguments = {ir::ValueRef{graph.add_input("x", interop::type_of(line.input))}};
    op.arguments.insert(op.arguments.end(), line.rest.begin(), line.rest.end());
    op.results = {{.values = {graph.add_result(interop::type_of(line.expected))}}};
    graph.append(op);
    graph.add_output("y", op.result());
    write(graph, file, {});
    const at::Tensor found = torch::jit::load(file).forward({line.input}).toTensor();
    EXPECT_EQ(found.scalar_type(), line.expected.scalar_type());
    EXPECT_TRUE(at::equal(found, line.expected));
  }
  std::filesystem::remove(file);
}

TEST(TorchScript, AnOperatorThatIsGoneIsAnError) {
  ir::Graph graph;
  const ir::TensorType type{DType::kFloat32, {3}, "cpu"};
  const ir::ValueId x = graph.add_input("x", type);
  graph.set_outputs({{"y", ir::testing::add_op(graph, "mylib::magic", {x}, type)}});
  try {
    write(graph, "/dev/null", {});
    FAIL() << "it was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNoTorchScript);
    EXPECT_STREQ(error.what(), "mylib::magic is no longer registered with PyTorch [LP503]");
  }
}

}  // namespace
}  // namespace leapp::torchscript
