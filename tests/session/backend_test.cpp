#include "session/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracing.h"

namespace leapp::session {
namespace {

using leapp::testing::code_of;

Metadata::Map param(const std::string& key, decltype(Metadata::value) value) {
  return {{key, Metadata{std::move(value)}}};
}

TEST(BackendTest, KnowsEveryNameOfABackend) {
  const std::pair<const char*, Backend> table[] = {
      {"jit", Backend::kTorchScript},         {"jit-script", Backend::kTorchScript},
      {"jit-trace", Backend::kTorchScript},   {"onnx", Backend::kOnnx},
      {"onnx-dynamo", Backend::kBridgedOnnx}, {"onnx-torchscript", Backend::kBridgedOnnx},
      {"pt2", Backend::kExportedProgram},     {"exported-program", Backend::kExportedProgram},
  };
  for (const auto& [name, backend] : table) EXPECT_EQ(parse_backend(name), backend) << name;
  EXPECT_EQ(parse_backend(std::nullopt), Backend::kNone);
  EXPECT_EQ(code_of([] { parse_backend("ONNX"); }), Code::kUnknownBackend);
}

TEST(BackendTest, ChecksParametersByBackendNameAndType) {
  const struct {
    Backend backend;
    Metadata::Map params;
    std::optional<Code> code;
  } table[] = {
      {Backend::kOnnx, {}, std::nullopt},
      {Backend::kOnnx, param("opset_version", std::int64_t{18}), std::nullopt},
      {Backend::kOnnx, param("opset_version", std::int64_t{1}), Code::kWrongValue},
      {Backend::kBridgedOnnx, param("opset_version", std::int64_t{1}), std::nullopt},
      {Backend::kOnnx, param("opset_version", std::string("18")), Code::kWrongType},
      {Backend::kOnnx, param("opset_version", std::monostate()), std::nullopt},
      {Backend::kOnnx, param("opset", std::int64_t{18}), Code::kUnknownBackend},
      {Backend::kTorchScript, param("optimize", true), std::nullopt},
      {Backend::kTorchScript, param("optimize", std::int64_t{1}), Code::kWrongType},
      {Backend::kTorchScript, param("external_data", true), Code::kUnknownBackend},
      {Backend::kExportedProgram, param("optimize", true), Code::kUnknownBackend},
      {Backend::kNone, param("model_path", std::string("net.onnx")), std::nullopt},
      {Backend::kNone, param("model_path", true), Code::kWrongType},
      {Backend::kNone, param("copy_original_model", std::string("no")), Code::kWrongType},
  };
  for (const auto& line : table) {
    const auto found = code_of([&] { parse_backend_params(line.backend, line.params); });
    EXPECT_EQ(found, line.code) << &line - table;
  }
}

TEST(BackendTest, GivesTheValuesOfParametersAndWhatHoldsWithoutThem) {
  const BackendParams usual = parse_backend_params(Backend::kOnnx, {});
  EXPECT_EQ(usual.opset_version, 20);
  EXPECT_EQ(usual.optimize, std::nullopt);
  EXPECT_EQ(usual.weights, "float32");
  EXPECT_FALSE(usual.external_data || usual.fallback || usual.model_path);
  const auto opset = param("opset_version", std::int64_t{18});
  EXPECT_EQ(parse_backend_params(Backend::kOnnx, opset).opset_version, 18);
  EXPECT_EQ(parse_backend_params(Backend::kOnnx, param("optimize", false)).optimize, false);
  EXPECT_EQ(parse_backend_params(Backend::kOnnx, param("optimize", std::monostate())).optimize,
            std::nullopt);
  EXPECT_EQ(parse_backend_params(Backend::kCpp, param("fallback", std::string("onnx"))).fallback,
            "onnx");
  EXPECT_EQ(parse_backend_params(Backend::kCpp, param("weights", std::string("int8"))).weights,
            "int8");
  Node node;
  node.backend_params = param("model_path", std::string("net.onnx"));
  EXPECT_EQ(params_of(node).model_path, "net.onnx");
  EXPECT_TRUE(params_of(node).copy_original_model);
}

}  // namespace
}  // namespace leapp::session
