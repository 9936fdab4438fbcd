// A small C++ model in the form of a generated one, for tests that compile it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "build/source_compiler.h"
#include "leapp/bundle.h"

namespace leapp::test {

/// Returns a source that computes y = w x for four elements and fails if x[0] is 13. `abi` is the
/// version in its table.
inline std::string doubling_source(int abi = 1) {
  return R"(
#include <cstring>
#include "leapp/cpp_model.h"
namespace {
const int64_t dims[] = {1, 4};
const leapp_cpp_port inputs[] = {{"x", "float32", dims, 2, 16}};
const leapp_cpp_port outputs[] = {{"y", "float32", dims, 2, 16}};
const char* const errors[] = {"x is unlucky"};
void prepare(const void* weights, void* memory) { std::memcpy(memory, weights, 16); }
int32_t run(const void* const* in, void* const* out, void* memory) {
  const float* x = static_cast<const float*>(in[0]);
  const float* w = static_cast<const float*>(memory);
  if (x[0] == 13) return 1;
  for (int i = 0; i < 4; ++i) static_cast<float*>(out[0])[i] = w[i] * x[i];
  return 0;
}
const leapp_cpp_model model = {)" +
         std::to_string(abi) + R"(, "policy", inputs, 1, outputs, 1, 16, 64, 64,
                               errors, 1, prepare, run};
}
extern "C" __attribute__((visibility("default"))) const leapp_cpp_model* leapp_cpp_policy() {
  return &model;
}
)";
}

inline Model doubling_model() {
  Model model;
  model.name = "policy";
  model.backend = "cpp";
  model.inputs = {Port{.name = "x", .dtype = DType::kFloat32, .shape = {1, 4}}};
  model.outputs = {Port{.name = "y", .dtype = DType::kFloat32, .shape = {1, 4}}};
  model.file = FileEntry{"policy.cpp", "", "11"};
  model.external_data = {FileEntry{"policy.weights", "", "22"}};
  return model;
}

/// Compiles the source into `folder`.
inline std::filesystem::path compile_doubling(const std::filesystem::path& folder, int abi = 1) {
  const std::filesystem::path source = folder / "policy.cpp";
  std::ofstream(source) << doubling_source(abi);
  const std::filesystem::path library = folder / "w.native.so";
  compile_sources({source}, library,
                  {.flags = {"-O0", "-I", std::string(LEAPP_TEST_DATA) + "/../../include"}});
  return library;
}

}  // namespace leapp::test
