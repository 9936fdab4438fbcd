#include "import/node_writer.h"

#include <gmock/gmock.h>

#include "import/meaning.h"
#include "leapp/error.h"
#include "run_part.h"
#include "support.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using leapp::testing::onnx_17;
using leapp::testing::run_part;
using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(NodeWriterTest, WritesInTheFormatOfAnotherModel) {
  NodeWriter writer("act", onnx_17());
  writer.output(plain_port("y", {1, 2}), writer.input(plain_port("x", {1, 2})));
  const Part part = std::move(writer).take();
  EXPECT_EQ(part.model.ir_version, 8);
  EXPECT_EQ(part.model.opsets[0].version, 17);
  EXPECT_EQ(part.node.name, "act");
  EXPECT_EQ(run_part(part, {{"x", {1, 2}}}).at("y"), std::vector<float>({1, 2}));
}

TEST(NodeWriterTest, AllElementsInOrderNeedNoGather) {
  NodeWriter writer("n", onnx_17());
  const std::string x = writer.input(plain_port("x", {1, 3}));
  EXPECT_EQ(writer.gather(x, {0, 1, 2}, 1, 3), x);
  EXPECT_EQ(writer.concat({x}, 1), x);
  writer.output(plain_port("y", {1, 2}), writer.gather(x, {2, 0}, 1, 3));
  writer.output(plain_port("z", {1, 6}), writer.concat({x, x}, 1));
  const auto out = run_part(std::move(writer).take(), {{"x", {1, 2, 3}}});
  EXPECT_THAT(out.at("y"), ElementsAre(3, 1));
  EXPECT_THAT(out.at("z"), ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST(NodeWriterTest, TwoPortsOfOneNameAreRefused) {
  NodeWriter writer("n", onnx_17());
  writer.input(plain_port("x", {1}));
  EXPECT_THAT(error_of([&] { writer.input(plain_port("x", {1})); }), StartsWith("LP823"));
}

TEST(NodeWriterTest, AConstantMustFitAFloat32) {
  NodeWriter writer("n", onnx_17());
  EXPECT_THAT(error_of([&] { writer.floats({1e39}, {1}); }), StartsWith("LP823"));
  EXPECT_EQ(error_of([&] { writer.floats({kInfinity}, {1}); }), "");
}

}  // namespace
}  // namespace leapp::importing
