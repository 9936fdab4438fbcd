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
    const auto found = code_of([&] { check_backend_params(line.backend, line.params); });
    EXPECT_EQ(found, line.code) << &line - table;
  }
}

TEST(BackendTest, GivesTheValueOfAParameter) {
  EXPECT_EQ(bool_param(param("a", true), "a"), true);
  EXPECT_EQ(bool_param(param("a", true), "b"), std::nullopt);
  EXPECT_EQ(int_param(param("a", std::int64_t{3}), "a"), 3);
  EXPECT_EQ(text_param(param("a", std::string("b")), "a"), "b");
  EXPECT_EQ(text_param(param("a", std::monostate()), "a"), std::nullopt);
}

}  // namespace
}  // namespace leapp::session
