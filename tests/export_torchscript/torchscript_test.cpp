#include "export/torchscript/torchscript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
