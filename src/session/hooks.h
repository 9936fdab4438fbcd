// What a front end in another language adds to an export.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "leapp/error.h"
#include "leapp/metadata.h"
#include "leapp/visibility.h"
#include "trace/source.h"

namespace leapp::session {

/// What the program calls one of its tensors.
struct TensorName {
  std::string name;  ///< for a weight or a state: "encoder.0.weight", "action_manager_action"
  std::string path;  ///< how the program reaches it: "env.scene['imu'].data"; "" where unknown
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

/// Returns for each read the path of the number, "" if it has none; nullopt for what is a literal
/// of the source or comes from library code, and is not listed.
using JudgeNumbers =
    std::function<std::vector<std::optional<std::string>>(const std::vector<NumberRead>&)>;

struct Hooks {
  /// Returns the tensors that the program held when the session stopped, in the order in which
  /// they are to be named. Called once per compile_graph(), like judge_numbers; both may be empty.
  std::function<std::vector<HeldTensor>()> held_tensors;
  JudgeNumbers judge_numbers;
  /// Asked once per compile_graph(); may be empty.
  std::function<TensorNames()> tensor_names;
  /// Told when a pass of a node has begun, in its first and second pass only (`pass` is 1 or 2):
  /// later ones are the program's control loop. Returns whether `closed` is to be told when it has
  /// ended. Called without the session's lock. May be empty, like all that follow.
  std::function<bool(const std::string& node, int pass)> opened;
  std::function<void(const std::string& node)> closed;
  /// Asked about outputs that depend on no input: whether each depends on something that the
  /// program replaces as it goes, so that later passes may show it to be state. Called without the
  /// session's lock; without it such outputs are errors.
  std::function<bool(const std::vector<at::Tensor>& outputs)> keeps;
  /// Told by stop() while the session can still be asked about what it traced.
  std::function<void()> stopping;
  /// Throws the error in the form in which it passes through libtorch's own bindings, when it comes
  /// out of an operator of the user's. May be empty: then it is thrown as it is.
  std::function<void(const Error& error)> rethrow;
  /// Writes the graph to the file by means that C++ does not have: backends "onnx-dynamo",
  /// "onnx-torchscript" and "pt2". Throws Error where that is impossible. May be empty.
  std::function<void(const std::string& backend, const ir::Graph& graph,
                     const std::filesystem::path& file, const Metadata::Map& params)>
      bridge;
  /// What is not installed that the bridge needs for a backend, in words; empty when all is there.
  std::function<std::string(const std::string& backend)> missing;
  /// Runs a model file that only the front end can run (backend "pt2") and returns its outputs. May
  /// be empty: then such models are not validated.
  std::function<std::vector<at::Tensor>(const std::filesystem::path& file,
                                        const std::vector<at::Tensor>& inputs)>
      replay;
  /// Calls the function that is a node, where there is one, on other values of its inputs, by name,
  /// and puts back whatever that changed in the program. Returns its outputs by name, or nothing
  /// where it refuses them or its effects cannot be put back. May be empty.
  std::function<std::map<std::string, at::Tensor>(const std::string& node,
                                                  const std::map<std::string, at::Tensor>& inputs)>
      call_again;
};

/// Those of the whole process, for a front end to fill in.
LEAPP_EXPORT Hooks& hooks() noexcept;

}  // namespace leapp::session
