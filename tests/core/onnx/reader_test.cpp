#include "onnx/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "leapp/error.h"
#include "onnx/writer.h"
#include "sample_model.h"

namespace leapp::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::sample_model;

Bytes bytes_of(const std::string& text) {
  return Bytes::copy_of(text.data(), text.size());
}

std::vector<float> floats(const Tensor& tensor) {
  std::vector<float> values(tensor.raw.size / sizeof(float));
  std::memcpy(values.data(), tensor.raw.data.get(), tensor.raw.size);
  return values;
}

std::string error_of(const std::string& bytes) {
  try {
    parse_model(bytes_of(bytes), "model.onnx");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Reader, GivesBackWhatTheWriterWrote) {
  const Model model = parse_model(bytes_of(serialize(sample_model())), "sample");
  EXPECT_EQ(model.ir_version, 9);
  EXPECT_EQ(model.opsets.at(1).domain, "test");
  EXPECT_EQ(model.producer_name, "leapp");
  EXPECT_EQ(model.metadata.at(0).second, "value");
  EXPECT_FALSE(model.has_functions);
  const Graph& graph = model.graph;
  EXPECT_EQ(graph.name, "sample");
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(graph.inputs[0].shape->at(0)), 1);
  EXPECT_EQ(std::get<std::string>(graph.inputs[0].shape->at(1)), "batch");
  EXPECT_EQ(std::get<std::string>(graph.inputs[0].shape->at(2)), "");
  ASSERT_TRUE(graph.outputs.at(0).shape.has_value());
  EXPECT_TRUE(graph.outputs[0].shape->empty());
  EXPECT_THAT(floats(graph.initializers.at(0)), ElementsAre(4, 5));
  const Node& node = graph.nodes.at(0);
  EXPECT_EQ(node.op_type, "Custom");
  EXPECT_EQ(node.domain, "test");
  EXPECT_THAT(node.inputs, ElementsAre("x", "", "w"));
  EXPECT_EQ(node.doc_string, "policy.py:3 in act");
  EXPECT_EQ(node.metadata.at(0).first, "leapp.op");
  ASSERT_EQ(node.attributes.size(), 8U);
  EXPECT_EQ(std::get<float>(node.attributes[0].value), 0.5F);
  EXPECT_EQ(std::get<std::int64_t>(node.attributes[1].value), -3);
  EXPECT_EQ(std::get<std::string>(node.attributes[2].value), "text");
  EXPECT_THAT(floats(std::get<Tensor>(node.attributes[3].value)), ElementsAre(1, 2, 3));
  EXPECT_EQ(std::get<std::shared_ptr<const Graph>>(node.attributes[4].value)->name, "then");
  EXPECT_THAT(std::get<std::vector<float>>(node.attributes[5].value), ElementsAre(1, -2));
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(node.attributes[6].value),
              ElementsAre(1, -2, std::int64_t{1} << 40));
  EXPECT_THAT(std::get<std::vector<std::string>>(node.attributes[7].value), ElementsAre("p", ""));
}

TEST(Reader, KeepsFieldsItHasNoMemberFor) {
  // Field 25 of a model is a function; fields 200 and 201 are unknown.
  std::string bytes = serialize(sample_model());
  bytes += std::string("\xca\x01\x02\x0a\x00", 5) + std::string("\xc0\x0c\x07", 3);
  const Model model = parse_model(bytes_of(bytes), "sample");
  EXPECT_TRUE(model.has_functions);
  EXPECT_THAT(model.unread, HasSubstr(std::string("\xca\x01\x02\x0a\x00", 5)));
  EXPECT_THAT(serialize(model), HasSubstr(std::string("\xc0\x0c\x07", 3)));
}

TEST(Reader, UnderstandsTypedElements) {
  // TensorProto{dims: 2, data_type: INT8, int32_data: [3, -1], name: "w"} in a graph.
  const std::string tensor(
      "\x08\x02\x10\x03\x2a\x0b\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
      "\x42\x01w",
      20);
  const std::string graph = std::string("\x2a\x14", 2) + tensor;
  const std::string model = std::string("\x08\x09\x3a\x16", 4) + graph;
  const Model read = parse_model(bytes_of(model), "typed");
  const Tensor& weight = read.graph.initializers.at(0);
  ASSERT_EQ(weight.raw.size, 2U);
  EXPECT_EQ(static_cast<std::int8_t>(weight.raw.data.get()[1]), -1);
}

TEST(Reader, RefusesEveryTruncation) {
  const std::string whole = serialize(sample_model());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    try {
      parse_model(bytes_of(cut), "cut");  // a file that ends between two fields may still be a
                                          // model
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kBadModel);
    }
  }
  EXPECT_THAT(error_of(whole.substr(0, whole.size() - 1)),
              HasSubstr("model.onnx is not a readable ONNX model"));
  EXPECT_THAT(error_of(""), HasSubstr("it has no graph"));
}

TEST(Reader, SurvivesFlippedBits) {
  const std::string whole = serialize(sample_model());
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    std::string flipped = whole;
    for (int i = 0; i < 3; ++i) {
      flipped[random() % flipped.size()] ^= static_cast<char>(1U << (random() % 8));
    }
    try {
      parse_model(bytes_of(flipped), "flipped");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kBadModel);
    }
  }
}

TEST(Reader, RefusesGraphsWithoutEnd) {
  std::string graph;
  for (int depth = 0; depth < 200; ++depth) {
    Graph outer;
    Node node;
    node.op_type = "If";
    outer.nodes = {node};
    auto length = [](std::size_t n) {
      std::string varint;
      for (; n >= 0x80; n >>= 7U) varint += static_cast<char>(0x80 | (n & 0x7F));
      return varint + static_cast<char>(n);
    };
    const std::string attribute = "\x32" + length(graph.size()) + graph + "\xa0\x01\x05";
    const std::string made = "\x2a" + length(attribute.size()) + attribute;
    graph = "\x0a" + length(made.size()) + made;
    if (depth == 199) {
      const std::string model = "\x08\x09\x3a" + length(graph.size()) + graph;
      EXPECT_THAT(error_of(model), HasSubstr("nested too deeply"));
    }
  }
}

TEST(Reader, SaysWhichWeightIsDamaged) {
  Model model = sample_model();
  model.graph.initializers[0].dims = {3};
  EXPECT_THAT(error_of(serialize(model)),
              HasSubstr("the weight 'w' of shape [3] has 8 bytes instead of 12"));
  model.graph.initializers[0].dims = {std::int64_t{1} << 62, 1 << 10};
  EXPECT_THAT(error_of(serialize(model)), HasSubstr("'w' has an impossible shape"));
  model = sample_model();
  model.graph.initializers[0].strings = {"one"};
  EXPECT_THAT(error_of(serialize(model)), HasSubstr("the weight 'w' of float32 has strings"));
}

TEST(Reader, NamesAMissingFile) {
  try {
    read_model("/nowhere/model.onnx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/model.onnx: the file was not found"));
  }
}

}  // namespace
}  // namespace leapp::onnx
