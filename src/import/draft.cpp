#include "import/draft.h"

#include <algorithm>

#include "bundle/initial_values.h"
#include "bundle/staging.h"
#include "onnx/writer.h"

namespace leapp::importing {
namespace {

void add_wire(std::vector<Wire>& wires, const PortRef& source, const PortRef& target) {
  const auto found = std::find_if(wires.begin(), wires.end(),
                                  [&](const Wire& wire) { return wire.source == source; });
  if (found != wires.end()) {
    found->targets.push_back(target);
  } else {
    wires.push_back({source, {target}});
  }
}

}  // namespace

void Draft::wire(const PortRef& source, const PortRef& target) {
  add_wire(bundle_.pipeline.data_flow, source, target);
  fed_.insert(target);
  taken_.insert(source);
}

void Draft::feed_back(const PortRef& source, const PortRef& target, Tensor initial) {
  add_wire(bundle_.pipeline.feedback_flow, source, target);
  fed_.insert(target);
  initial_.emplace_back(target, std::move(initial));
}

void Draft::list_ports() {
  for (const Part& part : parts_) {
    NodePorts inputs{part.node.name, {}};
    NodePorts outputs{part.node.name, {}};
    for (const Port& port : part.node.inputs) {
      if (!fed_.contains({part.node.name, port.name})) inputs.ports.push_back(port.name);
    }
    for (const Port& port : part.node.outputs) {
      const PortRef ref{part.node.name, port.name};
      if (!taken_.contains(ref) && !hidden_.contains(ref)) outputs.ports.push_back(port.name);
    }
    if (!inputs.ports.empty()) bundle_.pipeline.inputs.push_back(std::move(inputs));
    if (!outputs.ports.empty()) bundle_.pipeline.outputs.push_back(std::move(outputs));
  }
}

void Draft::write_files(const std::filesystem::path& folder, const std::string& name) {
  for (Part& part : parts_) {
    Model& node = part.node;
    const std::vector<FileEntry> files =
        onnx::write_model(part.model, folder / (node.name + ".onnx"));
    node.file = files.front();
    node.external_data.assign(files.begin() + 1, files.end());
    node.backend = "onnx";
    for (const onnx::Opset& opset : part.model.opsets) {
      if (opset.domain.empty() || opset.domain == "ai.onnx") node.opset_version = opset.version;
    }
    bundle_.models.push_back(std::move(node));
  }
  if (!initial_.empty()) {
    std::vector<std::pair<PortRef, ConstTensorView>> values;
    for (const auto& [target, tensor] : initial_) values.emplace_back(target, tensor.view());
    bundle_.pipeline.initial_values =
        write_initial_values(folder / (name + "_initial_values.safetensors"), values);
  }
  check(bundle_);
  write_bytes(folder / (name + ".yaml"), to_yaml(bundle_));
}

Bundle Draft::write(const std::filesystem::path& target) {
  list_ports();
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
