// The ports of a pipeline by name, and error messages for unknown names.
//
// A port has its own name, "policy/h_in", and, if no other port has it, the annotated name,
// "policy/h". Immutable, so any thread may use it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/tensor_view.h"
#include "runtime/plan.h"

namespace leapp {

class PortNames {
 public:
  /// Keeps references to both, which must outlive it.
  PortNames(const Bundle& bundle, const Plan& plan);

  /// Returns the index of an external input; nothing for any other name.
  std::optional<std::size_t> find_input(std::string_view name) const;
  /// Returns the index of an external input. Throws LP601 if there is none.
  std::size_t input(std::string_view name) const;
  std::size_t output(std::string_view name) const;

  bool is_feedback(std::string_view name) const;

  /// Throws LP601 if there is no such node.
  const Model& node(std::string_view name) const;
  const Port& port(std::string_view node, std::string_view name) const;

  /// Throws LP601 with the reason why an input that is neither external nor fed back cannot be set.
  [[noreturn]] void refuse_to_set(std::string_view node, std::string_view input) const;

 private:
  using Index = std::unordered_map<std::string, std::size_t>;

  const Bundle& bundle_;
  const Plan& plan_;
  Index inputs_;
  Index outputs_;
};

/// Throws LP602, LP603 or LP003 unless `value` matches the buffer of the input `name`.
void check_fit(const std::string& name, const TensorView& buffer, const ConstTensorView& value);

}  // namespace leapp
