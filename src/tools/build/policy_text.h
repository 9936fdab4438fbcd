// The text of a whole tick in C++: a class around the nodes' sources.
//
// `<name>_policy.h` contains the class, `<name>_policy.cpp` the wires, state and initial values,
// and `<name>_nodes.cpp` the nodes with their memory, which may be compiled several times for
// several kinds of processors. `<name>_nodes.h` connects them. With noise ports, `<name>_noise.h`
// is kNoiseGenerator. The same bundle gives the same text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/unused_name.h"
#include "build/noise_text.h"
#include "build/schedule_text.h"
#include "bundle/safetensors.h"
#include "bundle/wiring.h"
#include "leapp/bundle.h"

namespace leapp {

class PolicyText {
 public:
  /// Creates the text of a bundle whose nodes are all C++. The bundle must outlive the object.
  /// Names become C++ identifiers: "left arm/q" is `left_arm_q`, and the namespace of bundle
  /// "walker" is `walker_policy`.
  PolicyText(const Bundle& bundle, const SafeTensors& initial_values);

  const std::string& name() const noexcept { return name_; }
  bool has_noise() const noexcept { return noise_.has_value(); }
  std::string header() const;
  std::string policy() const;
  std::string nodes_header() const;
  std::string nodes() const;
  /// Returns the initial values of the feedback inputs, concatenated in the order in which the
  /// source reads them.
  std::string initial_bytes() const;

 private:
  struct Buffer {
    std::string name;  // name of the member, and of the function that returns it
    const Port* port;
  };
  struct Feedback {
    PortRef target;
    PortRef source;
  };
  struct Initial {
    std::string member;
    const ConstTensorView* value;
  };

  void add_buffers();
  void add_initial_values();
  void add_schedule();
  const Buffer& input_buffer(PortIndex input) const;
  static std::string span_function(const Buffer& buffer, bool is_input, const std::string& scope);
  std::vector<std::pair<const Buffer*, bool>> ports() const;  // true if it is an input
  std::string buffers_struct() const;
  std::string tick_body() const;
  std::string reset_body() const;
  std::string prepare_body() const;
  std::string weights_symbol(const Model& model) const;

  const Bundle& bundle_;
  const SafeTensors& initial_values_;
  std::string name_;
  Wiring wiring_;
  std::vector<Feedback> feedback_;
  std::map<PortRef, Buffer> outputs_;  // ports of every node
  std::map<PortRef, Buffer> inputs_;   // ports that no node of this tick computes
  UsedNames names_;
  std::vector<Initial> initials_;   // in the order of the file that the source embeds
  std::optional<NoiseText> noise_;  // if the bundle has noise ports
  std::optional<ScheduleText> schedule_;
};

/// Returns a C++ identifier: letters, digits and _.
std::string cpp_name(const std::string& text);

}  // namespace leapp
