#include "compile/bundle_files.h"

#include <torch/version.h>

#include <algorithm>
#include <fstream>

#include "base/check.h"
#include "bundle/contract_rules.h"
#include "bundle/initial_values.h"
#include "compile/wires.h"
#include "interop/convert.h"
#include "rehearse/model_run.h"

namespace leapp::compile {
namespace {

// "Debian GNU/Linux 12", from the file that every current distribution has.
std::string operating_system() {
  std::ifstream file("/etc/os-release");
  std::string name = "Linux";
  std::string version;
  for (std::string line; std::getline(file, line);) {
    std::erase(line, '"');
    const std::string value = line.substr(line.find('=') + 1);
    if (line.starts_with("NAME=")) name = value;
    if (line.starts_with("VERSION_ID=")) version = value;
  }
  return version.empty() ? name : name + " " + version;
}

// Whole numbers are written as integers.
Metadata number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) == value) return {whole};
  return {value};
}

// Returns whether the reader ran in a tick in which the source had not run yet.
bool reads_before(const std::vector<ExportedNode>& nodes, const state::Ticks& ticks,
                  const std::string& reader, const std::string& source) {
  const state::Ticks::Turn* const first = ticks.turn_of(find_node(nodes, reader)->node().id, 0);
  return first != nullptr &&
         ticks.latest(find_node(nodes, source)->node().id, first->tick) == nullptr;
}

}  // namespace

Bundle describe_bundle(const std::vector<ExportedNode>& nodes, const CompileOptions& options) {
  Bundle bundle = connect(nodes);
  if (options.graph_configs) {
    Metadata::Map& configs = bundle.pipeline.configs;
    if (const auto frequency = options.graph_configs->frequency) {
      configs.push_back({"frequency", number(*frequency)});
    }
    const Metadata::Map& extra = options.graph_configs->extra;
    configs.insert(configs.end(), extra.begin(), extra.end());
  }
  bundle.system_information = {
      options.cuda_version,   std::string(kWrittenConfigVersion),
      LEAPP_VERSION,          operating_system(),
      options.python_version, options.torch_version.value_or(TORCH_VERSION)};
  require_contract(bundle);
  return bundle;
}

std::optional<Diagnostic> find_unnamed_axes(const Bundle& bundle) {
  std::string ports;
  for (const Model& model : bundle.models) {
    for (const auto* side : {&model.inputs, &model.outputs}) {
      for (const Port& port : *side) {
        const auto& names = port.semantics.element_names;
        if (!names || names->empty() || !std::holds_alternative<std::monostate>(names->front())) {
          continue;
        }
        ports += (ports.empty() ? "" : ", ") + model.name + "/" + port.name;
      }
    }
  }
  if (ports.empty()) return std::nullopt;
  return Diagnostic{.code = Code::kUnnamedAxis,
                    .level = LogLevel::kWarning,
                    .text = "element_names of " + ports +
                            " begin with None. The bundle keeps that, but isaac_ros_deploy cannot "
                            "read it. Every program reads a flat list, which names the elements of "
                            "the last dimension"};
}

void write_initial_values(const std::vector<ExportedNode>& nodes, const std::filesystem::path& file,
                          Bundle& bundle, const state::Ticks& ticks) {
  std::vector<at::Tensor> keep;
  std::vector<std::pair<PortRef, ConstTensorView>> values;
  const auto add = [&](const PortRef& target) {
    const ExportedNode* node = find_node(nodes, target.node);
    const at::Tensor value = interop::on_host(node->input_value(0, node->input_name(target.port)));
    if (!value.defined()) return;
    keep.push_back(value);
    values.emplace_back(target, interop::view_of(keep.back()));
  };
  for (const Wire& wire : bundle.pipeline.feedback_flow) std::ranges::for_each(wire.targets, add);
  for (const Wire& wire : bundle.pipeline.data_flow) {
    for (const PortRef& target : wire.targets) {
      if (reads_before(nodes, ticks, target.node, wire.source.node)) add(target);
    }
  }
  if (values.empty() && bundle.pipeline.feedback_flow.empty()) return;
  bundle.pipeline.initial_values = leapp::write_initial_values(file, values);
}

void read_back(const std::filesystem::path& yaml) {
  BundleOptions options;
  options.allow_outside_files = true;  // models may be used in place
  try {
    const Bundle bundle = read_bundle(yaml, options);
    if (!bundle.pipeline.initial_values) return;
    const FileBytes values(yaml.parent_path() / bundle.pipeline.initial_values->path);
    leapp::read_initial_values(bundle, &values, options);
  } catch (const Error& error) {
    throw error.behind(
        "the new bundle could not be loaded, so nothing was written and the previous export is "
        "unchanged: ");
  }
}

}  // namespace leapp::compile
