// Shared by the runtime's tests: where the small model files and the libraries are.
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

/// A file of tests/data/models.
inline std::filesystem::path model_file(const std::string& name) {
  return std::filesystem::path(LEAPP_TEST_DATA) / "models" / name;
}

/// Points the runtime at the libraries of the source tree, unless the environment has its own.
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

/// Numbers that know how to be a view of shape [1, n].
struct Row {
  std::vector<float> values;

  TensorView view() {
    return {values.data(), DType::kFloat32, {1, static_cast<std::int64_t>(values.size())}};
  }
};

/// A float32 port.
inline Port port(const std::string& name, const Shape& shape = {1, 4}) {
  return Port{.name = name, .dtype = DType::kFloat32, .shape = shape};
}

/// What `call` throws, as text; fails the test when it throws nothing.
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
