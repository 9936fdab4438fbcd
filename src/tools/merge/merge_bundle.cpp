#include <string>
#include <unordered_map>

#include "base/check.h"
#include "bundle/initial_values.h"
#include "bundle/noise_port.h"
#include "bundle/staging.h"
#include "bundle/wiring.h"
#include "leapp/tools/merge.h"
#include "onnx/writer.h"
#include "runtime/loader.h"
#include "runtime/merge.h"
#include "runtime/merge_graphs.h"
#include "runtime/merge_proof.h"
#include "runtime/merged_onnx.h"

namespace leapp {
namespace {

std::string merged_name(const std::string& port) {
  const PortRef ref = *parse_port_ref(port);
  return ref.node + "." + ref.port;
}

// All nodes as one step. Throws an Error with the reason if that is not possible.
std::vector<std::size_t> all_in_one_step(const Bundle& bundle, const RuntimeOptions& options) {
  require(!Wiring(bundle).has_schedule(), Code::kNotMerged,
          "the bundle has a schedule (pipeline.schedule), and one model runs as a whole in every "
          "tick; run the bundle itself, with InferenceManager or the C API");
  for (const Model& model : bundle.models) {
    require(model.backend == "onnx", Code::kNotMerged,
            "only ONNX models can be merged; node '" + model.name + "' is " +
                (model.backend ? "a " + *model.backend + " model" : "without a model"));
    require(model.external_data.empty(), Code::kNotMerged,
            "node '" + model.name +
                "' cannot be merged: its weights are in separate files; "
                "save the model with its weights inside");
  }
  const NodeGroups steps = propose_steps(bundle, options);
  require(steps.size() == 1, Code::kNotMerged,
          "nodes '" + bundle.models[steps[0].back()].name + "' and '" +
              bundle.models[steps.size() > 1 ? steps[1].front() : 0].name +
              "' cannot be merged: they differ in opset or engine options");
  return steps[0];
}

// The step of all nodes. Its ports are named "node/port", also those of a single node.
PlannedStep whole_step(const Bundle& bundle, const Plan& plan) {
  PlannedStep step = plan.steps[0];
  if (step.models.size() > 1) return step;
  const std::string& node = bundle.models[step.models[0]].name;
  for (auto* ports : {&step.model.inputs, &step.model.outputs}) {
    for (Port& port : *ports) port.name = to_string(PortRef{node, port.name});
  }
  return step;
}

// The new bundle would replace the one that it is made from.
void check_target(const Bundle& bundle, const std::filesystem::path& target) {
  std::error_code ignored;  // a target that does not exist yet
  const auto folder = std::filesystem::absolute(bundle.file, ignored).parent_path();
  require(!std::filesystem::equivalent(target, folder, ignored), Code::kWrongValue,
          "cannot merge " + bundle.file.string() + " into " + target.string() +
              ", the directory that contains it, because it would be overwritten. Choose a "
              "different directory");
}

// The port of the merged node: a different name, the same semantics.
Port merged_port(const Port& original, const std::string& name) {
  Port port = original;
  port.name = merged_name(name);
  return port;
}

class BundleMerger {
 public:
  BundleMerger(const Bundle& bundle, const PlannedStep& step, std::string node)
      : node_(std::move(node)) {
    Model& model = merged_.models.emplace_back();
    model.name = node_;
    model.backend = "onnx";
    model.opset_version = bundle.models[step.models[0]].opset_version;
    const auto add_input = [&](const PortRef& ref) {
      model.inputs.push_back(merged_port(*bundle.find_input(ref), to_string(ref)));
    };
    for (const Port& port : step.model.inputs) {
      const PortRef ref = *parse_port_ref(port.name);
      if (!is_noise(*bundle.find_input(ref))) add_input(ref);
    }
    // In the order of the bundle, so that the merged one draws the same numbers: B45.
    for (const PortIndex port : noise_ports(bundle)) add_input(input_ref(bundle, port));
    for (const Port& port : step.model.outputs) {
      model.outputs.push_back(
          merged_port(*bundle.find_output(*parse_port_ref(port.name)), port.name));
    }
    merged_.system_information = bundle.system_information;
    merged_.pipeline.configs = bundle.pipeline.configs;
    for (const Wire& wire : bundle.pipeline.feedback_flow) {
      Wire renamed{merged(wire.source), {}};
      for (const PortRef& target : wire.targets) renamed.targets.push_back(merged(target));
      merged_.pipeline.feedback_flow.push_back(std::move(renamed));
    }
    copy_ports(bundle.pipeline.inputs, merged_.pipeline.inputs);
    copy_ports(bundle.pipeline.outputs, merged_.pipeline.outputs);
  }

  // Writes everything to `folder`.
  Bundle write(onnx::Model model, const TensorMap& initial_values,
               const std::filesystem::path& folder) {
    std::unordered_map<std::string, std::string> names;
    for (const auto* ports : {&model.graph.inputs, &model.graph.outputs}) {
      for (const onnx::ValueInfo& port : *ports) names[port.name] = merged_name(port.name);
    }
    rename_values(model.graph, names);
    model.graph.name = node_;
    const std::vector<FileEntry> files = onnx::write_model(model, folder / (node_ + ".onnx"));
    merged_.models[0].file = files.front();
    merged_.models[0].external_data.assign(files.begin() + 1, files.end());
    if (!initial_values.empty()) {
      std::vector<std::pair<PortRef, ConstTensorView>> values;
      for (const auto& [name, tensor] : initial_values) {
        values.emplace_back(merged(*parse_port_ref(name)), tensor.view());
      }
      merged_.pipeline.initial_values =
          write_initial_values(folder / (node_ + "_initial_values.safetensors"), values);
    }
    check(merged_);
    write_bytes(folder / (node_ + ".yaml"), to_yaml(merged_));
    return merged_;
  }

 private:
  PortRef merged(const PortRef& ref) const { return {node_, ref.node + "." + ref.port}; }

  void copy_ports(const std::vector<NodePorts>& from, std::vector<NodePorts>& to) const {
    NodePorts all{node_, {}};
    for (const NodePorts& node : from) {
      for (const std::string& port : node.ports) all.ports.push_back(node.node + "." + port);
    }
    if (!all.ports.empty()) to.push_back(std::move(all));
  }

  std::string node_;
  Bundle merged_;
};

}  // namespace

Bundle merge_bundle(const std::filesystem::path& yaml, const std::filesystem::path& target,
                    const RuntimeOptions& options) {
  const Bundle bundle = read_bundle(yaml, options.bundle);
  check_target(bundle, target);
  const VerifiedFiles files(bundle, bundle.file.parent_path(), options.bundle);
  const Plan plan = make_plan(bundle, {all_in_one_step(bundle, options)});
  const PlannedStep step = whole_step(bundle, plan);
  std::vector<std::unique_ptr<Engine>> separate;
  for (std::size_t index : step.models) {
    separate.push_back(load_node(bundle, bundle.models[index], files, options));
  }
  prove_merged(bundle, step, separate, files, options, mock_samples(bundle, kMockSamples));
  std::vector<ModelFile> models;
  for (std::size_t index : step.models) {
    models.push_back(file_of(bundle, bundle.models[index], files, options));
  }
  onnx::Model model = read_merged_onnx(isolate(bundle, step), models, step.model);
  StagedDirectory staged(target);
  BundleMerger merger(bundle, step, staged.target().filename().string());
  Bundle written = merger.write(
      std::move(model), initial_values_of(bundle, plan, files, options.bundle), staged.path());
  staged.commit();
  written.file = staged.target() / (written.models[0].name + ".yaml");
  return written;
}

}  // namespace leapp
