#include <cstdio>
#include <limits>

#include "commands.h"
#include "leapp/tools/inventory.h"
#include "leapp/tools/view.h"
#include "text.h"

namespace leapp::cli {
namespace {

std::vector<std::string> names_of(const std::vector<NodePorts>& nodes) {
  std::vector<std::string> names;
  for (const NodePorts& node : nodes) {
    for (const std::string& port : node.ports) names.push_back(node.node + "/" + port);
  }
  return names;
}

void print_ports(const std::string& title, const Bundle& bundle,
                 const std::vector<std::string>& names, bool inputs) {
  std::printf("\n%s\n", title.c_str());
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : names) {
    const PortRef ref = *parse_port_ref(name);
    const Port& port = inputs ? *bundle.find_input(ref) : *bundle.find_output(ref);
    rows.push_back({"  " + name, type_text(port), port.semantics.kind.value_or("")});
  }
  std::fputs(rows.empty() ? "  none\n" : table(rows, false).c_str(), stdout);
}

void print_inventory(const std::vector<NodeInventory>& inventory) {
  if (inventory.empty()) return;
  std::printf("\nconstants\n");
  for (const NodeInventory& node : inventory) {
    const bool none = node.weights.empty() && node.constants.empty();
    std::printf("  %s%s\n", node.node.c_str(), none ? ": none" : "");
    for (const auto& each : node.weights) std::printf("    %s\n", to_string(each).c_str());
    for (const auto& each : node.constants) std::printf("    %s\n", to_string(each).c_str());
  }
}

void print(const Bundle& bundle) {
  std::printf("%s: %s, config version %s\n", bundle.file.c_str(),
              count_text(bundle.models.size(), "node").c_str(),
              bundle.system_information.config_version.c_str());
  std::printf("\nnodes, in order of execution\n");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t index : execution_order(bundle)) {
    const Model& model = bundle.models[index];
    rows.push_back({"  " + model.name, model.backend.value_or("no model"),
                    model.file ? model.file->path : "-",
                    std::to_string(model.inputs.size()) + " in",
                    std::to_string(model.outputs.size()) + " out"});
  }
  std::fputs(table(rows, false).c_str(), stdout);
  print_ports("inputs", bundle, names_of(bundle.pipeline.inputs), true);
  print_ports("outputs", bundle, names_of(bundle.pipeline.outputs), false);
  for (const auto& [title, flow] : {std::pair{"wires", &bundle.pipeline.data_flow},
                                    std::pair{"feedback", &bundle.pipeline.feedback_flow}}) {
    std::printf("\n%s\n", title);
    if (flow->empty()) std::printf("  none\n");
    for (const Wire& wire : *flow) {
      for (const PortRef& target : wire.targets) {
        std::printf("  %s -> %s\n", to_string(wire.source).c_str(), to_string(target).c_str());
      }
    }
  }
  if (!bundle.pipeline.schedule.empty()) std::printf("\nschedule\n");
  for (const NodeSchedule& schedule : bundle.pipeline.schedule) {
    std::printf("  %s: %s\n", schedule.node.c_str(), to_string(schedule).c_str());
  }
  if (const auto& merged = bundle.pipeline.merged) {
    std::printf("\nmerged\n");
    if (merged->empty()) std::printf("  none\n");
    for (const std::vector<std::string>& group : *merged) {
      std::string names;
      for (const std::string& node : group) names += (names.empty() ? "" : ", ") + node;
      std::printf("  %s\n", names.c_str());
    }
  }
  print_inventory(read_inventory(bundle.file));
}

}  // namespace

Command add_inspect(CLI::App& program) {
  struct Arguments {
    std::string yaml;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app =
      program.add_subcommand("inspect", "show nodes, ports, wires and constants of a bundle");
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  app->footer("Example: leapp inspect walker/walker.yaml");
  return {app, [arguments] {
            BundleOptions options;  // inspecting allocates no tensors
            options.max_tensor_bytes = std::numeric_limits<std::uint64_t>::max();
            const Bundle bundle = read_bundle(arguments->yaml, options);
            if (arguments->json) {
              std::printf("%s\n", to_json(bundle).c_str());
            } else {
              print(bundle);
            }
            return kDone;
          }};
}

}  // namespace leapp::cli
