#include <array>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "leapp/log.h"
#include "leapp/robot_binding.h"
#include "text.h"

namespace leapp::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BindArguments {
  std::string yaml;
  std::string robot;
  bool json = false;
};

Json to_json(const PortBinding& port, const std::vector<Signal>& signals) {
  Json elements = Json::array();
  for (std::size_t i = 0; i < port.sources.size(); ++i) {
    const BoundElement& source = port.sources[i];
    const Signal& signal = signals[source.signal];
    elements.push_back({{"name", i < port.elements.size() ? Json(port.elements[i]) : Json()},
                        {"signal", signal.name},
                        {"element", signal.elements[source.element]},
                        {"index", source.element},
                        {"factor", source.factor}});
  }
  return {{"port", port.port},
          {"kind", port.kind.empty() ? Json() : Json(port.kind)},
          {"steps", port.layout.steps},
          {"bound", !port.sources.empty()},
          {"elements", std::move(elements)},
          {"remarks", port.remarks}};
}

Json to_json(const std::vector<PortBinding>& ports, const std::vector<Signal>& signals) {
  Json list = Json::array();
  for (const PortBinding& port : ports) list.push_back(to_json(port, signals));
  return list;
}

// Returns the factor with six digits for the table.
std::string factor_text(double factor) {
  if (factor == 1) return "";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "x %g", factor);
  return text.data();
}

void print_ports(const char* title, const std::vector<PortBinding>& ports,
                 const std::vector<Signal>& signals, bool to_the_robot) {
  std::printf("%s\n", title);
  for (const PortBinding& port : ports) {
    const std::string kind = port.kind.empty() ? "no kind" : port.kind;
    const std::string steps =
        port.layout.steps > 1 ? ", " + std::to_string(port.layout.steps) + " steps" : "";
    std::printf("  %s (%s%s)%s\n", printable(port.port).c_str(), printable(kind).c_str(),
                steps.c_str(), port.sources.empty() ? ": not bound" : "");
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < port.sources.size(); ++i) {
      const BoundElement& source = port.sources[i];
      const Signal& signal = signals[source.signal];
      rows.push_back({"    " + (i < port.elements.size() ? port.elements[i] : std::to_string(i)),
                      to_the_robot ? "->" : "<-",
                      signal.name + "[" + std::to_string(source.element) + "] " +
                          signal.elements[source.element],
                      factor_text(to_the_robot ? 1 / source.factor : source.factor)});
    }
    std::fputs(table(rows, false).c_str(), stdout);
    for (const std::string& remark : port.remarks) {
      std::printf("    (%s)\n", printable(remark).c_str());
    }
  }
  if (ports.empty()) std::printf("  none\n");
}

int run_bind(const BindArguments& arguments) {
  BundleOptions options;  // looking needs no memory for tensors
  options.max_tensor_bytes = std::numeric_limits<std::uint64_t>::max();
  const Bundle bundle = read_bundle(arguments.yaml, options);
  const Robot robot = read_robot(arguments.robot);
  const RobotBinding binding = bind(bundle, robot);
  const bool fits = binding.problems.empty();
  if (arguments.json) {
    const Json report = {{"ok", fits},
                         {"inputs", to_json(binding.inputs, robot.sensors)},
                         {"outputs", to_json(binding.outputs, robot.actuators)},
                         {"problems", binding.problems},
                         {"remarks", binding.remarks}};
    std::printf("%s\n", json_text(report).c_str());
    return fits ? kDone : kWrong;
  }
  print_ports("inputs", binding.inputs, robot.sensors, false);
  print_ports("outputs", binding.outputs, robot.actuators, true);
  for (const std::string& remark : binding.remarks) {
    std::printf("(%s)\n", printable(remark).c_str());
  }
  std::fflush(stdout);
  require_bound(binding, bundle, robot);
  return kDone;
}

}  // namespace

Command add_bind(CLI::App& program) {
  const auto arguments = std::make_shared<BindArguments>();
  CLI::App* app = program.add_subcommand(
      "bind", "show which number of a robot is which element of a bundle's ports");
  add_bundle(*app, arguments->yaml);
  app->add_option("robot", arguments->robot, "the robot's description, a .yaml file")->required();
  add_json(*app, arguments->json);
  app->footer("Example: leapp bind walker/walker.yaml robot.yaml");
  return {app, [arguments] { return run_bind(*arguments); }};
}

}  // namespace leapp::cli
