// Helpers for the tests of bundles.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/error.h"

namespace leapp::test {

/// A directory that is removed at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "leapp-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::filesystem::path& name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Runs `action`, which must throw an Error of that kind. Returns its text, which contains its
/// code.
template <typename Action>
std::string error_of(ErrorKind kind, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    EXPECT_NE(std::string(error.what()).find("[" + to_string(error.code()) + "]"),
              std::string::npos)
        << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// Returns `text` with the first `from` replaced. The test fails if `from` does not occur.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "not in the text: " << from;
    return text;
  }
  return text.replace(at, from.size(), to);
}

inline Port make_port(std::string name, Shape shape = {1, 4}, DType dtype = DType::kFloat32) {
  return {std::move(name), dtype, std::move(shape), {}};
}

inline const std::string kSomeSha256(64, 'a');
inline const std::string kSomeMd5(32, 'b');

inline Model make_model(std::string name, std::vector<Port> inputs, std::vector<Port> outputs) {
  Model model;
  model.file = FileEntry{name + ".onnx", kSomeMd5, kSomeSha256};
  model.backend = "onnx";
  model.opset_version = 20;
  model.name = std::move(name);
  model.inputs = std::move(inputs);
  model.outputs = std::move(outputs);
  return model;
}

/// Returns a bundle with two nodes, one wire, one state, and feedback of the action.
inline Bundle make_bundle() {
  Bundle bundle;
  bundle.models.push_back(
      make_model("pre", {make_port("obs"), make_port("last")}, {make_port("features", {1, 6})}));
  bundle.models.push_back(make_model("policy", {make_port("features", {1, 6}), make_port("h_in")},
                                     {make_port("action"), make_port("h_out")}));
  bundle.pipeline.data_flow = {{{"pre", "features"}, {{"policy", "features"}}}};
  bundle.pipeline.feedback_flow = {{{"policy", "action"}, {{"pre", "last"}}},
                                   {{"policy", "h_out"}, {{"policy", "h_in"}}}};
  bundle.pipeline.inputs = {{"pre", {"obs"}}};
  bundle.pipeline.outputs = {{"policy", {"action"}}};
  return bundle;
}

}  // namespace leapp::test
