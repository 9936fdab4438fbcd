// A front end in another language, as a session and an export see it.
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

/// The program's name of one of its tensors.
struct TensorName {
  std::string name;  ///< for a weight or a state: "encoder.0.weight", "action_manager_action"
  std::string path;  ///< path in the program: "env.scene['imu'].data"; "" if unknown
};
/// By the address of their first element.
using TensorNames = std::unordered_map<const void*, TensorName>;

/// A tensor or array that an object of the program holds.
struct HeldTensor {
  enum class Kind { kParameter, kBuffer, kOther };

  const std::byte* address = nullptr;  ///< of its first element
  std::size_t bytes = 0;               ///< from there to the end of its last element
  std::string path = {};               ///< how the program reaches it
  Kind kind = Kind::kOther;
  std::string module = {};  ///< path of the outermost module, for a parameter or buffer
};

/// Numbers that an operator of a pass took as one argument.
struct NumberRead {
  trace::FrameRef where;
  std::string op;        ///< "aten::mul"
  std::string argument;  ///< by its name in the operator's schema
  std::vector<double> values;
  bool is_default = false;  ///< the value that the operator has if none is given
  bool made_here = false;   ///< elements of a tensor that the node itself made
};

/// A front end in another language. It sees the program through other means than operators.
///
/// Handed to start(); it must outlive the session. Called on the thread of the annotation, of
/// stop() or of compile_graph(), always without the session's lock. Every method has a default, for
/// a front end that knows nothing of that kind.
class FrontEnd {
 public:
  virtual ~FrontEnd() = default;

  /// Notifies of the first and the second pass of a node (`pass` is 1 or 2); later ones are the
  /// program's control loop.
  virtual void pass_opened(const std::string& /*node*/, int /*pass*/) {}

  /// Returns whether each of these outputs, which depend on no input, comes from a tensor that an
  /// object of the program holds, so that later passes may show it to be state. Otherwise they are
  /// refused.
  virtual bool keeps(const std::vector<at::Tensor>& /*outputs*/) { return false; }

  /// Throws the error of an operator in a form that passes through libtorch's own bindings.
  virtual void rethrow(const Error& error) { throw error; }

  // For compile_graph(), which calls each of these once.
  virtual TensorNames tensor_names() { return {}; }
  /// Returns the tensors that the program held when the session stopped, in the order in which they
  /// are to be named.
  virtual std::vector<HeldTensor> held_tensors() { return {}; }
  /// Returns for each read the path of the number, "" if it has none; nullopt for a literal of the
  /// source or a number of library code, which is not listed.
  virtual std::vector<std::optional<std::string>> judge_numbers(
      const std::vector<NumberRead>& reads) {
    return std::vector<std::optional<std::string>>(reads.size());
  }

  /// Calls the program's function that is a node on other values of its inputs, by name. Returns
  /// its outputs by name, or nothing if it refuses the inputs. Called only for nodes that
  /// CompileOptions::rerun names.
  virtual std::map<std::string, at::Tensor> rerun(
      const std::string& /*node*/, const std::map<std::string, at::Tensor>& /*inputs*/) {
    return {};
  }
};

/// Begins a session like leapp::start(), with a front end; nullptr for none.
LEAPP_EXPORT void start(const StartOptions& options, FrontEnd* front_end);

/// Ends the use of the front end, before its language shuts down.
LEAPP_EXPORT void detach_front_end() noexcept;

}  // namespace leapp::session
