#include "onnx/port_check.h"

#include <gtest/gtest.h>

namespace leapp::onnx {
namespace {

TEST(PortCheckTest, APortIsThereAsDeclared) {
  std::vector<ValueInfo> found(2);  // the shape of the second port is unknown
  found[0].name = "x";
  found[0].shape = {1, "n"};
  found[1].name = "y";
  for (ValueInfo& each : found) each.type = ElementType::kFloat;
  const struct {
    Port port;
    const char* fault;
  } table[] = {
      {{"x", DType::kFloat32, {1, 7}}, ""},
      {{"y", DType::kFloat32, {2}}, ""},
      {{"z", DType::kFloat32, {2}}, "is declared, but the model has x, y"},
      {{"x", DType::kInt64, {1, 7}}, "is declared as int64, but the model has float32"},
      {{"x", DType::kFloat32, {2, 7}}, "is declared with shape [2, 7], but the model has [1, n]"},
      {{"x", DType::kFloat32, {1}}, "is declared with shape [1], but the model has [1, n]"},
  };
  for (const auto& line : table) {
    EXPECT_EQ(find_port_fault(line.port, found, "the model"), line.fault);
  }
}

}  // namespace
}  // namespace leapp::onnx
