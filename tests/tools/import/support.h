// Small policies as ONNX models, without a runtime.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "leapp/error.h"
#include "onnx/model.h"
#include "onnx/writer.h"

namespace leapp::testing {

inline onnx::ValueInfo value(const std::string& name, std::vector<onnx::Dimension> shape) {
  onnx::ValueInfo info;
  info.name = name;
  info.type = onnx::ElementType::kFloat;
  info.shape = std::move(shape);
  return info;
}

inline onnx::Node node(const std::string& type, std::vector<std::string> inputs,
                       std::vector<std::string> outputs) {
  onnx::Node made;
  made.op_type = type;
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

/// Returns a model with actions = tanh(obs) and a reference that depends on `time_step` alone.
inline onnx::Model tracking_model(std::int64_t size) {
  onnx::Model model;
  model.ir_version = 8;
  model.opsets = {{"", 17}};
  model.graph.name = "policy";
  model.graph.inputs = {value("obs", {std::string("batch"), size}), value("time_step", {1, 1})};
  model.graph.outputs = {value("actions", {1, size}), value("joint_pos", {1, 1})};
  model.graph.nodes = {node("Sin", {"time_step"}, {"joint_pos"}),
                       node("Tanh", {"obs"}, {"actions"})};
  return model;
}

/// A directory that is removed with the object.
class Folder {
 public:
  Folder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("leapp_import_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const onnx::Model& model) const {
    onnx::write_model(model, path_ / "policy.onnx");
    return path_ / "policy.onnx";
  }

 private:
  std::filesystem::path path_;
};

/// Returns the error of a call as "LP823: text"; "" if it throws none.
template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return to_string(error.code()) + ": " + error.text();
  }
  return {};
}

}  // namespace leapp::testing
