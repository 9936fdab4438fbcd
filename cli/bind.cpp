#include <array>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "leapp/log.h"
#include "leapp/robot_binding.h"
#include "leapp/supervision.h"
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

Bundle read_without_tensors(const std::filesystem::path& yaml) {
  BundleOptions options;  // inspecting allocates no tensors
  options.max_tensor_bytes = std::numeric_limits<std::uint64_t>::max();
  return read_bundle(yaml, options);
}

Json to_json(const RobotBinding& binding, const Robot& robot) {
  return {{"ok", binding.problems.empty()},
          {"inputs", to_json(binding.inputs, robot.sensors)},
          {"outputs", to_json(binding.outputs, robot.actuators)},
          {"problems", binding.problems},
          {"remarks", binding.remarks}};
}

void print(const RobotBinding& binding, const Robot& robot) {
  print_ports("inputs", binding.inputs, robot.sensors, false);
  print_ports("outputs", binding.outputs, robot.actuators, true);
  for (const std::string& remark : binding.remarks) {
    std::printf("(%s)\n", printable(remark).c_str());
  }
}

int bind_bundle(const BindArguments& arguments, const Robot& robot) {
  const Bundle bundle = read_without_tensors(arguments.yaml);
  const RobotBinding binding = bind(bundle, robot);
  if (arguments.json) {
    std::printf("%s\n", json_text(to_json(binding, robot)).c_str());
    return binding.problems.empty() ? kDone : kWrong;
  }
  print(binding, robot);
  std::fflush(stdout);
  require_bound(binding, bundle, robot);
  return kDone;
}

int bind_supervision(const BindArguments& arguments, const Robot& robot) {
  const Supervision supervision = read_supervision(arguments.yaml);
  std::vector<Bundle> bundles;
  Json policies;
  for (const SupervisedPolicy& policy : supervision.policies) {
    bundles.push_back(read_without_tensors(policy.bundle));
    const RobotBinding binding = bind(bundles.back(), robot);
    policies[policy.name] = to_json(binding, robot);
    if (arguments.json) continue;
    std::printf("policy %s\n", printable(policy.name).c_str());
    print(binding, robot);
  }
  std::fflush(stdout);
  std::string problem;
  try {
    check(supervision, robot, bundles);
  } catch (const Error& error) {
    if (!arguments.json) throw;
    problem = error.what();
  }
  if (arguments.json) {
    const Json report = {{"ok", problem.empty()},
                         {"policies", std::move(policies)},
                         {"problems", problem.empty() ? Json::array() : Json::array({problem})}};
    std::printf("%s\n", json_text(report).c_str());
  }
  return problem.empty() ? kDone : kWrong;
}

int run_bind(const BindArguments& arguments) {
  const Robot robot = read_robot(arguments.robot);
  return is_supervision(arguments.yaml) ? bind_supervision(arguments, robot)
                                        : bind_bundle(arguments, robot);
}

}  // namespace

Command add_bind(CLI::App& program) {
  const auto arguments = std::make_shared<BindArguments>();
  CLI::App* app = program.add_subcommand(
      "bind", "show which element of each port is bound to which value of the robot");
  app->add_option("bundle", arguments->yaml, "a bundle, or the description of a supervisor (.yaml)")
      ->required();
  app->add_option("robot", arguments->robot, "the robot's description, a .yaml file")->required();
  add_json(*app, arguments->json);
  app->footer("Example: leapp bind walker/walker.yaml robot.yaml");
  return {app, [arguments] { return run_bind(*arguments); }};
}

}  // namespace leapp::cli
