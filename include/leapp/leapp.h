// The C++ interface of LEAPP: marks the stages of a running pipeline, traces and exports them.
//
// The calls have the same names as in Python:
//
//   leapp::start({.name = "walker"});
//   at::Tensor obs = leapp::annotate::input_tensors("policy", {{"obs", raw}})[0];
//   at::Tensor action = model.forward(obs);
//   leapp::annotate::output_tensors("policy", {{"action", action}}, {.export_with = "onnx"});
//   leapp::stop();
//   leapp::compile_graph();
//
// One session at a time per process. Tensors stay ordinary tensors; outside start/stop every
// annotate call returns its argument. A node belongs to the thread that opened it until its
// output_tensors(). All calls throw leapp::Error.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/error.h"
#include "leapp/metadata.h"
#include "leapp/semantics.h"
#include "leapp/tolerance.h"
#include "leapp/tools/inventory.h"
#include "leapp/trace/diagnostic.h"
#include "leapp/trace/node_outcome.h"
#include "leapp/visibility.h"

namespace leapp {

/// The form in which draws of random numbers inside a node are exported.
enum class Noise : std::uint8_t {
  kPort,    ///< as inputs of kind `noise`, which the runtime fills
  kZero,    ///< without noise: normal numbers are 0, uniform ones 0.5, also while tracing
  kFrozen,  ///< as constants: the traced numbers
  kModel,   ///< as operators of the model, which is not validated
};

struct StartOptions {
  std::string name = {};        ///< the graph's name; may be a path, its last part is the name
  std::string save_path = ".";  ///< {save_path}/{name}/ receives everything
  bool verbose = false;         ///< show debug and info lines too
  bool dry_run = false;         ///< keep the structure, but export no model
  std::vector<std::string> non_traced = {};  ///< nodes that keep their ports but get no model
  int max_cached_io = 5;  ///< later passes kept for validation, in addition to the first
  /// When nodes run that do not run once in every tick. Ports have their annotated names. Nodes
  /// that are not listed, and `carry`, are inferred; the passes must fit.
  std::vector<NodeSchedule> schedule = {};
  Noise noise = Noise::kPort;  ///< form of the random draws inside nodes
};

/// Begins a session. If one is already active, drops it with a warning.
LEAPP_EXPORT void start(const StartOptions& options);

/// Ends tracing and keeps the traced passes for compile_graph(). Fails while a node is in its first
/// pass; the session then stays active. Drops a later pass that was begun.
LEAPP_EXPORT void stop();

/// Ends the session, if one is active, and drops the traced passes. Does nothing otherwise.
LEAPP_EXPORT void drop() noexcept;

/// Returns whether a session is tracing now. Costs one memory load.
LEAPP_EXPORT bool is_active() noexcept;

/// A session as a scope: the constructor starts it, and the destructor drops it unless stop() was
/// called, so that an exception leaves no session behind.
///
///   {
///     leapp::Trace trace({.name = "walker"});
///     run_the_annotated_program();
///     trace.stop();
///   }
///   leapp::compile_graph();
class LEAPP_EXPORT Trace {
 public:
  /// Throws what start() throws.
  explicit Trace(const StartOptions& options);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  /// Throws what stop() throws; then the end of the scope drops the session.
  void stop();

 private:
  bool stopped_ = false;
};

struct GraphConfigs {
  std::optional<double> frequency = {};  ///< ticks per second
  Metadata::Map extra = {};
};

struct CompileOptions {
  bool visualize = true;
  std::optional<bool> verbose = {};
  bool validate = true;
  bool dry_run = false;
  Tolerance tolerance = {};  ///< tolerance for exported models against the trace
  bool strict = true;        ///< throw if a node fails validation
  /// True to throw kUnacknowledged if a node exports a constant, other than parameters and buffers,
  /// that OutputOptions::constants does not acknowledge.
  bool strict_constants = false;
  /// Number of traced ticks that the bundle keeps for InferenceManager::verify(); at most the
  /// number that StartOptions::max_cached_io kept.
  int golden = 0;
  /// True to try exported models on many untraced inputs without a time limit, instead of for a
  /// fifth of the compile time.
  bool thorough = false;
  /// Names of nodes whose function compile_graph() may call on inputs that were never traced, to
  /// compare it with its model. Only a front end that knows the functions can do so: Python, for
  /// functions of annotate.method. The side effects of such a function happen again.
  std::vector<std::string> rerun = {};
  std::optional<GraphConfigs> graph_configs = {};
  /// Called before each step with (steps done, steps in total, node).
  std::function<void(std::size_t, std::size_t, const std::string&)> progress = {};
  /// Called often, between steps, on the thread of compile_graph(). If it returns true,
  /// compile_graph() throws Error(kCancelled); if it throws, compile_graph() passes the exception
  /// on. In both cases nothing is written and an existing bundle is unchanged.
  std::function<bool()> cancelled = {};
  /// Versions that a front end in another language adds to the bundle's system information.
  std::optional<std::string> python_version = {};
  std::optional<std::string> torch_version = {};
  std::optional<std::string> cuda_version = {};
};

/// Returns the warnings and remarks since the last start(), most harmful first. compile_graph()
/// also writes them to diagnostics.json.
LEAPP_EXPORT std::vector<Diagnostic> diagnostics();

/// Returns the constants of each node, as found by the last compile_graph(), also if it threw
/// kUnacknowledged. diagnostics.json contains the same list.
LEAPP_EXPORT std::vector<NodeInventory> inventory();

/// Exports every node, writes the bundle, draws it and validates it. Returns one entry per node if
/// it validates, otherwise nothing. The new bundle replaces the previous one as a whole, at the
/// very end.
LEAPP_EXPORT std::vector<NodeOutcome> compile_graph(const CompileOptions& options = {});

/// A named tensor with its semantics.
struct TensorSemantics {
  std::string name;
  at::Tensor ref;
  Semantics semantics = {};
};

using NamedTensors = std::vector<TensorSemantics>;

struct OutputOptions {
  NamedTensors static_outputs = {};  ///< constants that the node also outputs
  /// "jit", "jit-script", "jit-trace", "onnx", ..; nullopt: the node has no model, or uses an
  /// existing one
  std::optional<std::string> export_with = {};
  Metadata::Map backend_params = {};
  /// Constants of the node that the user acknowledges: by a name or path that acknowledges() in
  /// leapp/tools/inventory.h matches, or by the tensor itself.
  NamedTensors constants = {};
  /// When the node runs, if not once in every tick, as in StartOptions::schedule. Its `node` is
  /// ignored.
  std::optional<NodeSchedule> schedule = {};
};

namespace annotate {

/// Opens a node, or adds inputs to an open one. Returns the tensors to compute with, in order; they
/// share memory with the arguments.
LEAPP_EXPORT std::vector<at::Tensor> input_tensors(
    const std::string& node, const NamedTensors& tensors,
    std::source_location where = std::source_location::current());

/// Names the node's outputs and closes it. Returns the output tensors, in order.
LEAPP_EXPORT std::vector<at::Tensor> output_tensors(
    const std::string& node, const NamedTensors& tensors, const OutputOptions& options = {},
    std::source_location where = std::source_location::current());

/// Declares recurrent state with its initial value; returns the tensors to compute with.
LEAPP_EXPORT std::vector<at::Tensor> state_tensors(
    const std::string& node, const NamedTensors& tensors,
    std::source_location where = std::source_location::current());

/// Sets the values of declared states for the next pass. Returns the same tensors.
LEAPP_EXPORT std::vector<at::Tensor> update_state(
    const std::string& node, const NamedTensors& tensors,
    std::source_location where = std::source_location::current());

/// Declares persistent tensors, such as a module's buffers: tensors that the pass changes become
/// state, the others are constants. `current` is called once, at output_tensors(), and returns the
/// current tensors in the same order, so reassignment counts like an in-place write.
LEAPP_EXPORT void module(const std::string& node, const NamedTensors& buffers,
                         std::function<std::vector<at::Tensor>()> current,
                         std::source_location where = std::source_location::current());

/// Declares the buffers of a torch::nn::Module (or another class with named_buffers()): all of
/// them, or those that are named. The module must live until the node's output_tensors(). Dots in
/// names become underscores.
template <typename Module>
requires requires(Module& model) {
  model.named_buffers();
}
void module(const std::string& node, Module& model,
            const std::vector<std::string>& buffer_names = {},
            std::source_location where = std::source_location::current()) {
  std::vector<std::string> paths;
  for (const auto& buffer : model.named_buffers()) {
    const bool wanted = buffer_names.empty() || std::find(buffer_names.begin(), buffer_names.end(),
                                                          buffer.key()) != buffer_names.end();
    if (wanted) paths.push_back(buffer.key());
  }
  for (const std::string& name : buffer_names) {
    if (std::find(paths.begin(), paths.end(), name) != paths.end()) continue;
    throw Error(Code::kWrongValue,
                "module() for node '" + node + "': the module has no buffer '" + name + "'");
  }
  const auto current = [&model, paths] {
    const auto buffers = model.named_buffers();
    std::vector<at::Tensor> tensors;
    for (const std::string& path : paths) tensors.push_back(buffers[path]);
    return tensors;
  };
  NamedTensors named;
  for (const at::Tensor& buffer : current()) {
    std::string name = paths[named.size()];
    std::replace(name.begin(), name.end(), '.', '_');
    named.push_back({name, buffer});
  }
  module(node, named, current, where);
}

/// Declares persistent tensors that are written in place. Returns the tensors to compute with.
LEAPP_EXPORT std::vector<at::Tensor> register_buffer(
    const std::string& node, const NamedTensors& buffers,
    std::source_location where = std::source_location::current());

/// Declares that `target` contains the same data as `source`, after a copy that LEAPP could not
/// see.
LEAPP_EXPORT void mirror_leapp_tags(const at::Tensor& source, const at::Tensor& target,
                                    std::source_location where = std::source_location::current());

/// Drops the pass of a node, as if input_tensors() had not been called, for example after an
/// exception. Does nothing if the node is not open. Without this call, the line that opened the
/// pass starts a new one when it runs again, with a warning.
LEAPP_EXPORT void abandon(const std::string& node) noexcept;

/// Wraps a function of tensors so that each call is one pass of the node. Inputs are called
/// arg_0, arg_1, ..; outputs output1, output2, ..
LEAPP_EXPORT std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> method(
    const std::string& node,
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> callable,
    const OutputOptions& options = {},
    std::source_location where = std::source_location::current());

}  // namespace annotate

/// A function of tensors in order, or a module: [&](const auto& in) { return {net(in[0])}; }.
using TensorFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

struct ExportOptions {
  std::string export_with = "onnx";
  Metadata::Map backend_params = {};
  /// Recurrent state with its initial values. The function takes it after its inputs, and returns
  /// its next values after its outputs, in this order.
  NamedTensors states = {};
  std::vector<std::string> output_names = {};  ///< empty: "output1", "output2", ..
  int passes = 3;                              ///< number of runs of the function
  Noise noise = Noise::kPort;                  ///< form of the random draws
  CompileOptions compile = {};
};

/// Exports one function as a bundle of one node in the directory `path`, whose last part names
/// graph and node, and validates it. The first pass uses the example unchanged; the others add
/// noise to its floating-point tensors. Returns the path of the bundle's YAML file. No session may
/// be active before the call, and none is active after it, even if the function throws.
LEAPP_EXPORT std::filesystem::path export_function(
    const TensorFunction& function, const NamedTensors& example_inputs,
    const std::filesystem::path& path, const ExportOptions& options = {},
    std::source_location where = std::source_location::current());

}  // namespace leapp
