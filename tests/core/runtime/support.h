// Helpers for the runtime's tests: paths of the small model files and of the libraries.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/engine.h"
#include "leapp/tensor_view.h"

namespace leapp::testing {

/// Returns the path of a file in tests/data/models.
inline std::filesystem::path model_file(const std::string& name) {
  return std::filesystem::path(LEAPP_TEST_DATA) / "models" / name;
}

/// Points the runtime at the libraries of the source tree, unless the environment names others.
inline void find_libraries() {
#ifdef LEAPP_TEST_LIBRARIES
  setenv("LEAPP_ENGINE_PATH", LEAPP_TEST_LIBRARIES, 0);
#endif
  const std::filesystem::path lib =
      std::filesystem::path(LEAPP_TEST_DATA) / ".." / ".." / ".venv" / "lib";
  std::error_code ignored;
  for (const auto& python : std::filesystem::directory_iterator(lib, ignored)) {
    const auto folder = python.path() / "site-packages" / "onnxruntime" / "capi";
    if (std::filesystem::exists(folder)) use_onnxruntime(folder);
  }
}

/// Numbers that convert to a view of shape [1, n].
struct Row {
  std::vector<float> values;

  TensorView view() {
    return {values.data(), DType::kFloat32, {1, static_cast<std::int64_t>(values.size())}};
  }
};

/// Returns a float32 port.
inline Port port(const std::string& name, const Shape& shape = {1, 4}) {
  return Port{.name = name, .dtype = DType::kFloat32, .shape = shape};
}

/// Returns the text of the exception that `call` throws. The test fails if it throws none.
template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

}  // namespace leapp::testing
