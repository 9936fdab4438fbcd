// Each limit for model files, just reached and just exceeded.
#include "onnx/admission.h"

#include <gmock/gmock.h>

#include <protozero/pbf_writer.hpp>
#include <string>

#include "leapp/engine.h"
#include "onnx/fields.h"
#include "onnx/writer.h"
#include "sample_model.h"

namespace leapp::onnx {
namespace {

using protozero::pbf_writer;
using ::testing::HasSubstr;

// Models as bytes, because the structs have no functions and no sparse weights.
std::string node(const std::string& type, const std::string& domain = "",
                 const std::string& attribute = "") {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_string(field::node::kOpType, type);
  if (!domain.empty()) writer.add_string(field::node::kDomain, domain);
  if (!attribute.empty()) writer.add_message(field::node::kAttribute, attribute);
  return bytes;
}

std::string graph(const std::vector<std::string>& nodes) {
  std::string bytes;
  pbf_writer writer(bytes);
  for (const std::string& each : nodes) writer.add_message(field::graph::kNode, each);
  return bytes;
}

std::string function(const std::string& name, const std::vector<std::string>& nodes) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_string(field::function::kName, name);
  writer.add_string(field::function::kDomain, "local");
  for (const std::string& each : nodes) writer.add_message(field::function::kNode, each);
  return bytes;
}

std::string model(const std::string& main, const std::vector<std::string>& functions = {}) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_int64(field::model::kIrVersion, 9);
  writer.add_message(field::model::kGraph, main);
  for (const std::string& each : functions) writer.add_message(field::model::kFunction, each);
  return bytes;
}

// Returns a model whose function 0 calls function 1 `calls` times, function 1 calls function 2, and
// so on; the last one computes.
std::vector<std::string> chain(int length, int calls = 1) {
  std::vector<std::string> functions;
  for (int i = 0; i < length; ++i) {
    const std::string called =
        i + 1 < length ? node("f" + std::to_string(i + 1), "local") : node("Relu");
    functions.push_back(
        function("f" + std::to_string(i),
                 std::vector<std::string>(static_cast<std::size_t>(calls), called)));
  }
  return functions;
}

// Returns a node with a graph attribute that contains another such node.
std::string around(const std::string& inner) {
  std::string attribute;
  pbf_writer(attribute).add_message(field::attribute::kGraph, graph({inner}));
  return node("If", "", attribute);
}

std::string weight(const std::vector<std::int64_t>& dims) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_packed_int64(field::tensor::kDims, dims.begin(), dims.end());
  writer.add_int32(field::tensor::kDataType, 1);
  return bytes;
}

std::string fault_of(const std::string& bytes, const Admission& limits = {}) {
  try {
    require_admissible(std::as_bytes(std::span(bytes)), "model.onnx", limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kBadModel);
    EXPECT_THAT(error.text(), HasSubstr("model.onnx could not be loaded as ONNX: "));
    return error.text();
  }
  return {};
}

TEST(AdmissionTest, WhatExportersWriteIsAdmitted) {
  Model sample = testing::sample_model();
  sample.graph.nodes[0].domain = "com.microsoft";
  EXPECT_EQ(fault_of(serialize(sample)), "");
  EXPECT_EQ(fault_of(model(graph({node("f0", "local")}), chain(64))), "");
}

TEST(AdmissionTest, NodesAreCounted) {
  Admission limits;
  limits.max_nodes = 3;
  EXPECT_EQ(fault_of(model(graph({node("A"), around(node("B"))})), limits), "");
  EXPECT_THAT(
      fault_of(model(graph({node("A"), around(around(node("B")))})), limits),
      HasSubstr("it has more than 3 nodes, which is the limit (docs/explanation/security.md)"));
}

// 3,000 functions in 166 kB overflow ONNX Runtime's stack.
TEST(AdmissionTest, ChainsOfFunctionsAreBounded) {
  EXPECT_EQ(fault_of(model(graph({node("f0", "local")}), chain(64))), "");
  EXPECT_THAT(fault_of(model(graph({node("f0", "local")}), chain(65))),
              HasSubstr("its functions call each other more than 64 levels deep"));
  EXPECT_THAT(fault_of(model(graph({node("f0", "local")}), chain(3000))),
              HasSubstr("it has more than 1000 functions of its own"));
}

// If forty functions each call the next one twice, there are 10^12 nodes.
TEST(AdmissionTest, FunctionsCountAtEachCall) {
  EXPECT_EQ(fault_of(model(graph({node("f0", "local")}), chain(10, 2))), "");
  EXPECT_THAT(fault_of(model(graph({node("f0", "local")}), chain(40, 2))),
              HasSubstr("after inlining its functions it has more than 250000"));
  EXPECT_THAT(fault_of(model(graph({node("f0", "local")}), chain(60, 100))),
              HasSubstr("after inlining its functions"));
}

TEST(AdmissionTest, AFunctionMustNotCallItself) {
  const std::string a = function("a", {node("b", "local")});
  const std::string b = function("b", {around(node("a", "local"))});
  EXPECT_THAT(fault_of(model(graph({node("a", "local")}), {a, b})), HasSubstr("calls itself"));
}

TEST(AdmissionTest, GraphsInGraphsAreBounded) {
  std::string nested = node("Relu");
  for (int i = 0; i < 32; ++i) nested = around(nested);
  EXPECT_EQ(fault_of(model(graph({nested}))), "");
  EXPECT_THAT(fault_of(model(graph({around(nested)}))),
              HasSubstr("its graphs are nested more than 32 levels deep"));
}

TEST(AdmissionTest, WeightsAreBoundedByWhatTheyClaim) {
  std::string main;
  pbf_writer(main).add_message(field::graph::kInitializer, weight({1 << 20, 1 << 12}));
  EXPECT_EQ(fault_of(model(main)), "");
  pbf_writer(main).add_message(field::graph::kInitializer, weight({1 << 20, 1 << 13}));
  EXPECT_THAT(fault_of(model(main)), HasSubstr("its weights and constants have more than "
                                               "34359738368 bytes"));
  std::string endless;
  pbf_writer(endless).add_message(field::graph::kInitializer,
                                  weight({std::int64_t{1} << 62, std::int64_t{1} << 62}));
  EXPECT_THAT(fault_of(model(endless)), HasSubstr("weights and constants"));
  std::string negative;
  pbf_writer(negative).add_message(field::graph::kInitializer, weight({-1}));
  EXPECT_THAT(fault_of(model(negative)), HasSubstr("a weight has a negative size"));
}

TEST(AdmissionTest, SparseWeightsCountAsWhatTheyBecome) {
  std::string sparse;
  const std::vector<std::int64_t> dims = {std::int64_t{1} << 40};
  pbf_writer writer(sparse);
  writer.add_message(field::sparse_tensor::kValues, weight({1}));
  writer.add_packed_int64(field::sparse_tensor::kDims, dims.begin(), dims.end());
  std::string main;
  pbf_writer(main).add_message(field::graph::kSparseInitializer, sparse);
  EXPECT_THAT(fault_of(model(main)), HasSubstr("weights and constants"));
  std::string attribute;
  pbf_writer(attribute).add_message(field::attribute::kSparseTensor, sparse);
  EXPECT_THAT(fault_of(model(graph({node("Constant", "", attribute)}))),
              HasSubstr("weights and constants"));
}

TEST(AdmissionTest, EntriesAreCounted) {
  Admission limits;
  limits.max_entries = 2;
  std::string main;
  pbf_writer writer(main);
  writer.add_message(field::graph::kInput, std::string());
  writer.add_message(field::graph::kOutput, std::string());
  EXPECT_EQ(fault_of(model(main), limits), "");
  writer.add_message(field::graph::kValueInfo, std::string());
  EXPECT_THAT(fault_of(model(main), limits), HasSubstr("it has more than 2 inputs, outputs,"));
}

TEST(AdmissionTest, OperatorsOfOtherDomainsAreRefusedUntilTheyAreAllowed) {
  EXPECT_EQ(fault_of(model(graph({node("Gelu", "com.microsoft"), node("Relu", "ai.onnx"),
                                  node("Scaler", "ai.onnx.ml")}))),
            "");
  const std::string other = model(graph({node("Squash", "my.robot")}));
  EXPECT_THAT(fault_of(other), HasSubstr("an operator of the domain 'my.robot', which is not "
                                         "allowed (ONNX's own, ai.onnx.ml, com.microsoft)"));
  EXPECT_THAT(fault_of(model(graph({}), {function("f", {node("Squash", "my.robot")})})),
              HasSubstr("'my.robot'"));
  allow_onnx_domain("my.robot");
  EXPECT_EQ(fault_of(other), "");
}

TEST(AdmissionTest, DamagedBytesAreRefused) {
  const std::string whole = model(graph({around(node("Relu"))}), chain(3));
  for (std::size_t cut = 1; cut + 1 < whole.size(); ++cut) fault_of(whole.substr(0, cut));
  EXPECT_THAT(fault_of(whole.substr(0, whole.size() - 3)), HasSubstr("the file is not valid ONNX"));
}

}  // namespace
}  // namespace leapp::onnx
