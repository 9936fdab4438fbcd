// Mark the stages of a running pipeline, trace them, export them: the C++ face of LEAPP.
//
// The same words as in Python:
//
//   leapp::start({.name = "walker"});
//   at::Tensor obs = leapp::annotate::input_tensors("policy", {{"obs", raw}})[0];
//   at::Tensor action = model.forward(obs);
//   leapp::annotate::output_tensors("policy", {{"action", action}}, {.export_with = "onnx"});
//   leapp::stop();
//   leapp::compile_graph();
//
// One session at a time per process. Tensors stay ordinary tensors; outside start/stop every
// annotate call hands back its argument. A node belongs to the thread that opened it until its
// output_tensors(). All calls throw leapp::Error.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "leapp/error.h"
#include "leapp/log.h"
#include "leapp/metadata.h"
#include "leapp/node_outcome.h"
#include "leapp/semantics.h"
#include "leapp/visibility.h"

namespace leapp {

struct StartOptions {
  std::string name = {};        ///< the graph's name; may be a path, its last part is the name
  std::string save_path = ".";  ///< {save_path}/{name}/ receives everything
  bool verbose = false;         ///< show debug and info lines, not only warnings
  bool dry_run = false;         ///< keep the structure, export no model
  std::vector<std::string> non_traced =
      {};                 ///< nodes whose inputs and outputs are kept, but no model
  int max_cached_io = 5;  ///< re-entries kept for validation, beside the first pass
};

/// Begins a session. When one is already active it is dropped, with a warning.
LEAPP_EXPORT void start(const StartOptions& options);

/// Runs the recorder once on nothing, so that the first pass is no slower than others. start()
/// does; a front end that has work to do after it does so again.
LEAPP_EXPORT void touch();

/// Ends tracing; what was traced waits for compile_graph().
LEAPP_EXPORT void stop();

/// Whether a session is tracing now. Costs one load.
LEAPP_EXPORT bool is_active() noexcept;

/// Whether the session follows this tensor, known by itself or through its memory: a value of a
/// node under way, or one that came out of a node. False when no session is active.
LEAPP_EXPORT bool is_traced(const at::Tensor& tensor);

/// Whether another pass may find another value here: the tensor is traced, or a node is open and
/// the program had it, or what it was computed from, before. False for what is written out in the
/// code.
LEAPP_EXPORT bool may_vary(const at::Tensor& tensor);

/// For front ends that see the program read how large a tensor is: warns, with the user's line,
/// where the values of a traced tensor decided that, for the number becomes part of the model.
LEAPP_EXPORT void note_size(const at::Tensor& tensor);

/// Whether a pass of the session read this tensor, or others in its memory, as one from outside.
LEAPP_EXPORT bool was_read(const at::Tensor& tensor);

/// For front ends: the program made this tensor outside of nodes, and no operator showed it.
LEAPP_EXPORT void note_made(const at::Tensor& tensor);

/// The tensors whose values a node's first pass used though the program made them outside of nodes,
/// during the session: each with the line that used it.
LEAPP_EXPORT std::vector<std::pair<at::Tensor, std::string>> raw_constants_of(
    const std::string& node);

/// The tensors that were there before the open pass and that the value of this one depends on.
LEAPP_EXPORT std::vector<at::Tensor> outside_of(const at::Tensor& tensor);

/// The line at which the latest pass of a node began; empty if there is no such node.
LEAPP_EXPORT std::string opened_at(const std::string& node);

/// Whether the first pass of a node took this tensor in.
LEAPP_EXPORT bool was_input(const at::Tensor& tensor);

/// For front ends that index by numbers that may vary: `of` with its dimensions `places` taken at
/// `numbers`, 0-d integer tensors, so that these stay in the graph. What is returned is a copy that
/// behaves as the view that plain indexing gives, until its node closes.
LEAPP_EXPORT at::Tensor pick(const at::Tensor& of, const std::vector<std::int64_t>& places,
                             const std::vector<at::Tensor>& numbers);
/// Writes to those elements.
LEAPP_EXPORT void put(const at::Tensor& of, const std::vector<std::int64_t>& places,
                      const std::vector<at::Tensor>& numbers, const at::Tensor& value);
/// Says that a copy is about to be put where it came from, as `of[number] += 1` does, so that this
/// need not happen twice.
LEAPP_EXPORT void put_back(const at::Tensor& copy, const at::Tensor& of,
                           const std::vector<at::Tensor>& numbers);

/// Says that a traced value left the graph in a way no operator shows (a list of numbers, a NumPy
/// function): `text` becomes a warning with the caller's line, once per line. Does nothing for
/// tensors that are not traced.
LEAPP_EXPORT void note_escape(const at::Tensor& tensor, const std::string& text);

/// A warning of a front end, with the caller's line, to log.txt and the console like our own.
LEAPP_EXPORT void warn(const std::string& text);
/// Likewise a sentence that names its own line; with kDebug it is for log.txt.
LEAPP_EXPORT void say(LogLevel level, const std::string& text);

struct GraphConfigs {
  std::optional<double> frequency = {};  ///< ticks per second
  Metadata::Map extra = {};
};

struct CompileOptions {
  bool visualize = true;
  std::optional<bool> verbose = {};
  bool validate = true;
  bool dry_run = false;
  double rtol = 1e-3;
  double atol = 1e-5;
  bool strict = true;  ///< throw when a node fails validation
  std::optional<GraphConfigs> graph_configs = {};
  /// Called before each step with (steps done, steps in all, the node it is about).
  std::function<void(std::size_t, std::size_t, const std::string&)> progress = {};
  /// What a front end in another language knows of itself, for the bundle's system information.
  std::optional<std::string> python_version = {};
  std::optional<std::string> torch_version = {};
  std::optional<std::string> cuda_version = {};
};

/// Exports every node, writes the bundle, draws it and validates it. Returns one entry per node
/// when it validates, else nothing.
LEAPP_EXPORT std::vector<NodeOutcome> compile_graph(const CompileOptions& options = {});

/// A named tensor with what it means.
struct TensorSemantics {
  std::string name;
  at::Tensor ref;
  Semantics semantics = {};
};

using NamedTensors = std::vector<TensorSemantics>;

struct OutputOptions {
  NamedTensors static_outputs = {};  ///< constants the node also outputs
  /// "jit", "jit-script", "jit-trace", "onnx", ..; nullopt: the node has no model, or brings its
  /// own
  std::optional<std::string> export_with = {};
  Metadata::Map backend_params = {};
  /// For front ends that know what the program replaces as it goes: an output that depends on no
  /// input may depend on state that only later passes show. compile_graph() then decides.
  bool may_be_state = false;
};

namespace annotate {

/// Opens a node, or adds inputs to an open one. Returns the tensors to compute with, in order:
/// they share memory with what was passed.
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

/// Gives declared states their value for the next pass. Returns the same tensors.
LEAPP_EXPORT std::vector<at::Tensor> update_state(
    const std::string& node, const NamedTensors& tensors,
    std::source_location where = std::source_location::current());

/// Declares persistent tensors (a module's buffers, say): what the pass changes of them is state,
/// the rest is constant. `current` is asked once, at output_tensors(), for the tensors that hold
/// the values then, in the same order: reassignment counts like a write in place.
LEAPP_EXPORT void module(const std::string& node, const NamedTensors& buffers,
                         std::function<std::vector<at::Tensor>()> current,
                         std::source_location where = std::source_location::current());

/// The same for a torch::nn::Module (or whatever has named_buffers()): all its buffers, or those
/// that are named. The module must live until the node's output_tensors(). Dots in names become
/// underscores.
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

/// Says that `target` holds the same data as `source`, after a copy LEAPP could not see.
LEAPP_EXPORT void mirror_leapp_tags(const at::Tensor& source, const at::Tensor& target,
                                    std::source_location where = std::source_location::current());

/// Drops the pass a node is in, as if its input_tensors() had not been called: what a front end
/// does when the code between inputs and outputs threw. Does nothing when the node is not open.
LEAPP_EXPORT void abandon(const std::string& node) noexcept;

/// Wraps a function of tensors so that each call is one pass of the node. Inputs are called
/// arg_0, arg_1, ..; outputs output1, output2, ..
LEAPP_EXPORT std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> method(
    const std::string& node,
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> callable,
    const OutputOptions& options = {},
    std::source_location where = std::source_location::current());

}  // namespace annotate
}  // namespace leapp
