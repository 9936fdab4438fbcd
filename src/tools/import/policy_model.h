// The model of a policy, with the roles of its inputs and outputs: observation, action, and others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "import/node_writer.h"
#include "leapp/bundle.h"
#include "onnx/model.h"

namespace leapp::importing {

/// An input that reads an output of the previous tick: "h_in" and "h_out".
struct RecurrentPort {
  std::string input;
  std::string output;
};

struct PolicyModel {
  onnx::Model model;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::int64_t opset = 0;

  const Port* find_input(const std::string& name) const;
  const Port* find_output(const std::string& name) const;
  std::vector<RecurrentPort> recurrent() const;
};

/// Reads the file and its external weights. An open dimension counts as 1, because a robot runs one
/// policy. Throws LP617 for a broken file, and LP824 for unsupported ports.
PolicyModel read_policy(const std::filesystem::path& path);

/// Returns the ports that a policy of one observation has: "obs", or else the only input that is
/// neither recurrent nor a clock; "actions", or else the first output. Throws LP824 if there is
/// none.
const Port& observation_of(const PolicyModel& policy);
const Port& action_of(const PolicyModel& policy);

/// Returns the node that computes only these outputs, with the inputs that they need.
Part part_of(const PolicyModel& policy, const std::string& name,
             const std::vector<std::string>& outputs);

}  // namespace leapp::importing
