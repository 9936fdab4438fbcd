// Interface between a front end in another language and sessions and exports.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "leapp/error.h"
#include "leapp/leapp.h"
#include "leapp/visibility.h"
#include "trace/source.h"

namespace leapp::session {

/// The program's name for one of its tensors.
struct TensorName {
  std::string name;  ///< for a weight or a state: "encoder.0.weight", "action_manager_action"
  std::string path;  ///< path in the program: "env.scene['imu'].data"; "" if unknown
};
/// By the address of their first element.
using TensorNames = std::unordered_map<const void*, TensorName>;

/// A tensor or array that an object of the program holds.
struct HeldTensor {
  enum class Kind { kParameter, kBuffer, kOther };

  const std::byte* address = nullptr;  ///< address of its first element
  std::size_t bytes = 0;               ///< distance from there to the end of its last element
  std::string path = {};               ///< path in the program
  Kind kind = Kind::kOther;
  std::string module = {};  ///< path of the outermost module, for a parameter or buffer
};

/// An array that a pass uses and that no recorded call computed.
struct ForeignArray {
  at::Tensor tensor;     ///< as which the node uses it
  bool written = false;  ///< the program held it, but its content has changed in this pass
  std::string left_at;   ///< the line at which a traced value became an array; may be empty
};

/// Numbers that an operator of a pass received as one argument.
struct NumberRead {
  trace::FrameRef where;
  std::string op;        ///< "aten::mul"
  std::string argument;  ///< name of the argument in the operator's schema
  std::vector<double> values;
  bool is_default = false;  ///< the operator's default value
  bool made_here = false;   ///< elements of a tensor that the node itself created
};

/// A front end in another language. It observes the program by means other than operators.
///
/// Passed to start(); it must outlive the session. Called on the thread of the annotation, of
/// stop() or of compile_graph(), always without the session's lock. Every method has a default for
/// front ends without that knowledge.
class FrontEnd {
 public:
  virtual ~FrontEnd() = default;

  /// Notifies of the first and the second pass of a node (`pass` is 1 or 2); later ones are the
  /// program's control loop. `alone`: no other node is open.
  virtual void pass_opened(const std::string& /*node*/, int /*pass*/, bool /*alone*/) {}

  /// Returns arrays that the first or second pass of a node used and that no recorded call
  /// computed, before the pass ends.
  virtual std::vector<ForeignArray> pass_closing(const std::string& /*node*/, bool /*alone*/) {
    return {};
  }

  /// Returns whether each output that depends on no input comes from a tensor that an object of the
  /// program holds, so that it may be state; other such outputs are refused. `sources` contains for
  /// each output the tensors from before the pass that it depends on.
  virtual bool keeps(const std::vector<std::vector<at::Tensor>>& /*sources*/) { return false; }

  /// Throws the error of an operator in a form that passes through libtorch's own bindings.
  virtual void rethrow(const Error& error) { throw error; }

  // For compile_graph(), which calls each of these once.
  virtual TensorNames tensor_names() { return {}; }
  /// Returns the tensors that the program held when the session stopped, in the order in which they
  /// are named.
  virtual std::vector<HeldTensor> held_tensors() { return {}; }
  /// Returns for each read the path of the number, or "" if it has none. Returns nullopt for
  /// literals and numbers of library code, which are not listed.
  virtual std::vector<std::optional<std::string>> judge_numbers(
      const std::vector<NumberRead>& reads) {
    return std::vector<std::optional<std::string>>(reads.size());
  }

  /// Calls the function of a node with other values for its inputs, by name. Returns its outputs by
  /// name, or nothing if the function rejects the inputs. Called only for nodes that
  /// CompileOptions::rerun names.
  virtual std::map<std::string, at::Tensor> rerun(
      const std::string& /*node*/, const std::map<std::string, at::Tensor>& /*inputs*/) {
    return {};
  }
};

/// Begins a session like leapp::start(), with an optional front end, which may be nullptr.
LEAPP_EXPORT void start(const StartOptions& options, FrontEnd* front_end);

/// Ends the use of the front end, before its language shuts down.
LEAPP_EXPORT void detach_front_end() noexcept;

}  // namespace leapp::session
