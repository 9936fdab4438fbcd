// Nodes without a program: their ports, and the inputs and outputs of their passes.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compile/own_model.h"

namespace leapp::compile::testing {

using session::Node;
using session::NodeId;
using session::Pass;

/// Wide enough that weights are stored outside of the model's file.
inline constexpr std::int64_t kWidth = 1024;

/// Returns a row of four numbers, the shape of every port in tests/data/models.
inline at::Tensor row(double value) {
  return at::full({1, 4}, value);
}

inline session::NodePort port(const std::string& name) {
  session::NodePort made;
  made.name = name;
  made.shape = {1, 4};
  return made;
}

/// Returns a node that completed as the `id`-th one and has no passes yet.
inline Node make_node(NodeId id, const std::string& name, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
  Node node;
  node.name = name;
  node.id = id;
  node.completion = id;
  for (const std::string& each : inputs) node.inputs.push_back(port(each));
  for (const std::string& each : outputs) node.outputs.push_back(port(each));
  return node;
}

/// Adds a pass.
inline void run(Node& node, std::vector<at::Tensor> inputs, std::vector<at::Tensor> outputs) {
  Pass pass;
  for (const session::NodePort& each : node.inputs) pass.recording.inputs.push_back({each.name});
  pass.inputs = std::move(inputs);
  pass.outputs = std::move(outputs);
  node.passes.push_back(std::move(pass));
  ++node.completed;
}

/// Connects the input to that output: each of `reads` passes receives the output of the pass
/// `distance` earlier.
inline void wire(session::NodePort& input, NodeId from, const std::string& output, int reads = 1,
                 int distance = 0) {
  input.source = session::PortId{from, output};
  for (int pass = distance; pass < distance + reads; ++pass) {
    input.age.add({pass, pass - distance, pass + 1 - distance});
  }
}

/// Returns a node with an input x, an output y, a state h that is updated and a state k that is
/// not.
inline Node with_states() {
  Node node = make_node(0, "n", {"x"}, {"y"});
  node.states = {port("h"), port("k")};
  for (int i = 0; i < 2; ++i) {
    run(node, {row(i)}, {row(10 + i)});
    node.passes.back().states = {
        {.name = "h", .initial = row(20 + i), .updated = row(30 + i)},
        {.name = "k", .initial = row(40 + i), .updated = {}},
    };
    node.passes.back().recording.inputs.push_back({"k"});
    node.passes.back().inputs.push_back(row(40 + i));
  }
  return node;
}

/// A directory that is removed after the test.
class FolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("leapp_compile_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

}  // namespace leapp::compile::testing
