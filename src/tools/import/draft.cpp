#include "import/draft.h"

#include "bundle/connect.h"
#include "bundle/initial_values.h"
#include "bundle/staging.h"
#include "onnx/writer.h"
#include "runtime/merge_proof.h"

namespace leapp::importing {

void Draft::wire(const PortRef& source, const PortRef& target) {
  add_wire(bundle_.pipeline.data_flow, source, target);
}

void Draft::feed_back(const PortRef& source, const PortRef& target, Tensor initial) {
  add_wire(bundle_.pipeline.feedback_flow, source, target);
  initial_.emplace_back(target, std::move(initial));
}

void Draft::write_files(const std::filesystem::path& folder, const std::string& name) {
  for (Part& part : parts_) {
    Model& node = part.node;
    const std::vector<FileEntry> files =
        onnx::write_model(part.model, folder / (node.name + ".onnx"));
    node.file = files.front();
    node.external_data.assign(files.begin() + 1, files.end());
    node.backend = "onnx";
    node.opset_version = onnx::opset_of(part.model);
    bundle_.models.push_back(std::move(node));
  }
  if (!initial_.empty()) {
    std::vector<std::pair<PortRef, ConstTensorView>> values;
    for (const auto& [target, tensor] : initial_) values.emplace_back(target, tensor.view());
    bundle_.pipeline.initial_values =
        write_initial_values(folder / (name + "_initial_values.safetensors"), values);
  }
  list_open_ports(bundle_, hidden_);
  check(bundle_);
  bundle_.pipeline.merged = decide_merged(
      bundle_, folder, {}, {}, [&](const auto&) { return mock_samples(bundle_, kMockSamples); });
  write_bytes(folder / (name + ".yaml"), to_yaml(bundle_));
}

Bundle Draft::write(const std::filesystem::path& target) {
  bundle_.system_information.config_version = kWrittenConfigVersion;
  bundle_.system_information.leapp_version = LEAPP_VERSION;
  StagedDirectory staged(target);
  const std::string name = staged.target().filename().string();
  write_files(staged.path(), name);
  staged.commit();
  bundle_.file = staged.target() / (name + ".yaml");
  return bundle_;
}

}  // namespace leapp::importing
