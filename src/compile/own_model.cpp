#include "compile/own_model.h"

#include <c10/util/Exception.h>

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "export/torchscript/torchscript.h"
#include "onnx/port_check.h"
#include "onnx/reader.h"
#include "state/delayed.h"
#include "state/names.h"

namespace leapp::compile {
namespace {

namespace fs = std::filesystem;

/// Checks every declared port in the file.
void check_ports(const std::string& where, const std::vector<Port>& declared,
                 const std::vector<onnx::ValueInfo>& found, const std::string& side) {
  for (const Port& port : declared) {
    const std::string fault = onnx::find_port_fault(port, found, "the model");
    require(fault.empty(), Code::kOwnModel,
            where + ": the " + side + " '" + port.name + "' " + fault +
                ". Change the annotation, or the model");
  }
}

/// Drops inputs that neither the program nor the file uses.
void drop_unused(const std::set<std::string>& unused, const auto& taken, Model& declared) {
  std::erase_if(declared.inputs, [&](const Port& port) {
    return unused.contains(port.name) &&
           std::ranges::none_of(taken, [&](const auto& each) { return each.name == port.name; });
  });
}

void check_onnx(const std::string& where, const onnx::Model& found,
                const std::set<std::string>& unused, Model& declared) {
  const std::vector<onnx::ValueInfo> inputs = onnx::fed_inputs(found.graph);
  drop_unused(unused, inputs, declared);
  check_ports(where, declared.inputs, inputs, "input");
  check_ports(where, declared.outputs, found.graph.outputs, "output");
  for (const onnx::ValueInfo& info : inputs) {
    require(declared.find_input(info.name) != nullptr, Code::kOwnModel,
            where + ": the model has an input '" + info.name +
                "' that the node does not declare, so it would receive no value");
  }
}

void check_torchscript(const std::string& where, const fs::path& source,
                       const std::set<std::string>& unused, Model& declared) {
  try {
    const auto parameters = torchscript::parameters_of(source);
    require(parameters.has_value(), Code::kOwnModel, where + ": the module has no forward()");
    const auto needed = std::ranges::count(*parameters, true, &torchscript::Parameter::needed);
    // Inputs are matched by position, unless there are more.
    if (declared.inputs.size() > parameters->size()) drop_unused(unused, *parameters, declared);
    const auto ports = std::ssize(declared.inputs);
    require(needed <= ports && ports <= std::ssize(*parameters), Code::kOwnModel,
            where + ": forward() takes " + std::to_string(parameters->size()) +
                " tensor(s), but the node declares " + std::to_string(ports) + " input(s)");
  } catch (const c10::Error& error) {
    throw Error(Code::kOwnModel,
                where + " could not be read as TorchScript: " + error.what_without_backtrace());
  }
}

void copy_into(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  fs::copy_file(from, to, failed);
  require(!failed, Code::kIo,
          from.string() + " could not be copied to " + to.string() + ": " + failed.message());
}

}  // namespace

ExportedNode describe_only(const Node& node) {
  ExportedNode made{.states = {.node = &node}};
  Model& model = made.model;
  model.name = node.name;
  model.inputs.assign(node.inputs.begin(), node.inputs.end());
  const auto add_outputs = [&](bool is_static) {
    std::ranges::copy_if(
        node.outputs, std::back_inserter(model.outputs),
        [&](const session::NodePort& port) { return port.is_static == is_static; });
  };
  add_outputs(false);
  for (std::size_t i = 0; i < node.states.size(); ++i) {
    model.inputs.push_back(node.states[i]);
    if (node.passes.empty() || !node.passes.front().states[i].updated.defined()) continue;
    model.outputs.push_back(node.states[i]);
    state::State& state = made.states.states.emplace_back();
    state.origin = state::State::Origin::kExplicit;
    state.slot.name = node.states[i].name;
    for (const session::Pass& pass : node.passes) {
      state.per_pass.push_back({pass.states[i].initial, pass.states[i].updated});
    }
  }
  add_outputs(true);
  made.keep_names();
  return made;
}

std::set<std::string> unused_inputs(const Node& node) {
  if (node.passes.empty() || !node.passes.front().recording.tape) return {};
  const session::Pass& pass = node.passes.front();
  const trace::Tape& tape = pass.tape();
  std::vector<trace::VarId> left;
  for (const trace::Recording::Port& output : pass.recording.outputs) left.push_back(output.var);
  for (const session::MemoryUse& use : pass.memory) {
    if (use.left.defined()) left.push_back(use.var);
  }
  for (const session::Declared& state : pass.states) left.push_back(state.after);
  for (const session::Declared& buffer : pass.buffers) left.push_back(buffer.after);
  std::erase(left, trace::kNoId);
  std::set<std::string> unused;
  for (const trace::Recording::Port& input : pass.recording.inputs) {
    const auto reaches = [&](trace::VarId var) {
      return trace::depends_on(tape, var,
                               [&](trace::VarId id) { return tape.same_memory(input.var, id); });
    };
    const bool is_port = session::find_port(node.inputs, input.name) != nullptr;
    if (is_port && std::ranges::none_of(left, reaches)) unused.insert(input.name);
  }
  return unused;
}

std::string backend_of(const BackendParams& params, const std::string& node) {
  const std::string& source = *params.model_path;
  std::error_code ignored;
  require(fs::is_regular_file(source, ignored), Code::kNotFound,
          "node '" + node + "': the model " + source + " was not found");
  if (!params.backend.empty()) {
    require(params.backend == "onnx" || params.backend == "jit", Code::kUnknownBackend,
            "node '" + node + "': backend '" + params.backend + "' of " + source +
                " is neither 'onnx' nor 'jit', so no engine can run it");
    return params.backend;
  }
  const std::string extension = fs::path(source).extension().string();
  require(extension == ".onnx" || extension == ".pt", Code::kOwnModel,
          "node '" + node + "': " + source +
              " is neither an .onnx nor a .pt file, so no engine can run it. Say which it is, as "
              "in backend_params={'model_path': .., 'backend': 'jit'}.");
  return extension == ".onnx" ? "onnx" : "jit";
}

void take_own_model(const BackendParams& params, const fs::path& folder,
                    const std::set<std::string>& unused, Model& model) {
  const fs::path source = *params.model_path;
  model.backend = backend_of(params, model.name);
  const std::string where = "node '" + model.name + "': " + source.string();
  std::error_code ignored;
  const fs::path whole = fs::absolute(source, ignored);
  const auto bring = [&](const fs::path& file, const std::string& name) {
    if (params.copy_original_model) copy_into(file, folder / name);
    return params.copy_original_model ? name : fs::absolute(file, ignored).string();
  };
  if (model.backend == "jit") {
    check_torchscript(where, source, unused, model);
  } else {
    onnx::Model found = onnx::read_model(source);
    check_onnx(where, found, unused, model);
    for (const std::string& location : onnx::external_locations(found)) {
      const fs::path inside = fs::path(location).lexically_normal();
      require(inside.is_relative() && !inside.empty() && *inside.begin() != "..", Code::kOwnModel,
              where + " keeps weights in '" + location + "', outside its own directory");
      const fs::path file = whole.parent_path() / inside;
      require(fs::is_regular_file(file, ignored), Code::kNotFound,
              where + " keeps weights in " + file.string() + ", which was not found");
      model.external_data.push_back({bring(file, location), "", sha256_file(file)});
    }
    model.opset_version = onnx::opset_of(found);
  }
  const Checksums sums = hash_file(source);
  const std::string name = model.name + (model.backend == "onnx" ? ".onnx" : ".pt");
  model.file = FileEntry{bring(source, name), sums.md5, sums.sha256};
}

ExportedNode compile_own(const Node& node, std::span<const Node* const> nodes,
                         const std::filesystem::path& folder, bool dry_run,
                         state::Findings& findings) {
  ExportedNode compiled = describe_only(node);
  if (node.export_with) return compiled;
  const BackendParams params = session::params_of(node);
  const std::set<std::string> unused = unused_inputs(node);
  if (params.model_path && dry_run) {
    compiled.model.backend = backend_of(params, node.name);
  } else if (params.model_path) {
    take_own_model(params, folder, unused, compiled.model);
    state::refuse_delays(node, nodes);
  } else {
    std::erase_if(compiled.model.inputs,
                  [&](const Port& port) { return unused.contains(port.name); });
    if (node.traced) {
      findings.push_back(state::warning(
          Code::kNoModel, {}, node.name,
          "node '" + node.name +
              "' has no model: give export_with=, or a model_path in backend_params; the bundle "
              "can be loaded but not run"));
    } else {
      log(LogLevel::kInfo, "node '" + node.name + "' is listed in non_traced: it gets no model");
    }
  }
  compiled.keep_names();
  return compiled;
}

}  // namespace leapp::compile
