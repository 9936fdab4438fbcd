#include "export/torchscript/torchscript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <filesystem>
#include <string>

#include "../ir/graph_builder.h"
#include "leapp/error.h"

namespace leapp::torchscript {
namespace {

// A device that is full takes a few bytes into its buffer and refuses the rest.
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
