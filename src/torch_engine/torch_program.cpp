#include "torch_engine/torch_program.h"

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/serialization/import.h>

#include <unordered_map>

#include "bundle/wiring.h"
#include "leapp/error.h"
#include "torch_engine/archive.h"
#include "torch_engine/lent_module.h"

namespace leapp {
namespace {

namespace jit = torch::jit;

void find_device_constants(jit::Block* block, std::vector<jit::Node*>& found) {
  for (jit::Node* node : block->nodes()) {
    if (node->kind() == c10::prim::Constant &&
        node->output()->type()->kind() == c10::TypeKind::DeviceObjType) {
      found.push_back(node);
    }
    for (jit::Block* inner : node->blocks()) find_device_constants(inner, found);
  }
}

// A model contains the devices on which it creates tensors. If the current device is not among
// them, the model was exported on another device, and all of them are replaced by the current one.
void move_device_constants(jit::Graph& graph, at::Device device) {
  std::vector<jit::Node*> constants;
  find_device_constants(graph.block(), constants);
  for (jit::Node* node : constants) {
    const std::optional<c10::IValue> value = jit::toIValue(node->output());
    if (value && value->isDevice() && value->toDevice().type() == device.type()) return;
  }
  for (jit::Node* node : constants) {
    const jit::WithInsertPoint here(node);
    node->output()->replaceAllUsesWith(graph.insertConstant(device));
  }
}

jit::Module load_module(const ModelFile& file, at::Device device) {
  jit::Module module =
      file.keeper && device.is_cpu() ? load_in_place(file) : jit::load(archive_over(file), device);
  module.eval();
  return module;
}

// The values that a graph returns, one per output of the node, as values of `into`.
std::vector<jit::Value*> unpack(jit::Graph& into, const std::vector<jit::Value*>& returned,
                                const Model& node) {
  std::vector<jit::Value*> values = returned;
  const std::size_t expected = node.outputs.size();
  if (returned.size() == 1) {
    if (returned[0]->type()->cast<c10::TupleType>()) {
      jit::Node* unpacked = into.insertNode(into.createTupleUnpack(returned[0]));
      values.assign(unpacked->outputs().begin(), unpacked->outputs().end());
    } else if (returned[0]->type()->cast<c10::ListType>()) {
      // Their number is known only after a run; the interpreter then reports a mismatch.
      jit::Node* unpacked = into.insertNode(into.createListUnpack(returned[0], expected));
      values.assign(unpacked->outputs().begin(), unpacked->outputs().end());
    }
  }
  if (values.size() != expected) {
    throw Error(Code::kModelMismatch,
                "node '" + node.name + "': its model returns " + std::to_string(values.size()) +
                    " outputs, the bundle declares " + std::to_string(expected));
  }
  return values;
}

TorchProgram finish(const std::shared_ptr<jit::Graph>& graph, const std::string& name) {
  jit::LowerSimpleTuples(graph);
  jit::EliminateDeadCode(graph);
  TorchProgram program;
  program.graph = graph;
  program.code = jit::Code(graph, name);
  return program;
}

}  // namespace

TorchGraph load_graph(const Model& node, const ModelFile& file, at::Device device) {
  jit::Module module = load_module(file, device);
  try {
    jit::freeze_module_inplace(&module);
  } catch (const std::exception&) {
    module = load_module(file, device);  // writes its own attributes, so it runs unchanged
  }
  TorchGraph result;
  result.graph = module.get_method("forward").graph()->copy();
  result.self = module._ivalue();
  jit::Inline(*result.graph);
  move_device_constants(*result.graph, device);
  const std::size_t inputs = result.graph->inputs().size() - 1;
  if (inputs != node.inputs.size()) {
    throw Error(Code::kModelMismatch, "node '" + node.name + "': its model takes " +
                                          std::to_string(inputs) + " inputs, the bundle declares " +
                                          std::to_string(node.inputs.size()));
  }
  const jit::AliasDb aliases(result.graph);
  for (std::size_t i = 0; i < inputs; ++i) {
    result.writes_input.push_back(aliases.hasWriters(result.graph->inputs()[i + 1]));
  }
  return result;
}

TorchProgram make_program(const Model& node, const TorchGraph& loaded) {
  const auto graph = std::make_shared<jit::Graph>();
  std::vector<jit::Value*> inputs;
  for (jit::Value* input : loaded.graph->inputs()) {
    inputs.push_back(graph->addInput()->copyMetadata(input));
  }
  const std::vector<jit::Value*> returned = jit::insertGraph(*graph, *loaded.graph, inputs);
  for (jit::Value* value : unpack(*graph, returned, node)) graph->registerOutput(value);
  const bool uses_self = graph->inputs()[0]->hasUses();
  if (!uses_self) graph->eraseInput(0);
  TorchProgram program = finish(graph, node.name);
  if (uses_self) program.self = loaded.self;
  program.writes_input = loaded.writes_input;
  return program;
}

TorchProgram merge_programs(const Bundle& part, const std::vector<const TorchGraph*>& graphs,
                            const Model& signature) {
  const Wiring wiring(part);
  const auto graph = std::make_shared<jit::Graph>();
  std::unordered_map<std::string, jit::Value*> inputs;
  std::unordered_map<std::string, jit::Value*> outputs;
  for (const Port& port : signature.inputs) inputs[port.name] = graph->addInput();
  for (std::size_t i = 0; i < part.models.size(); ++i) {
    const Model& node = part.models[i];
    const TorchGraph& loaded = *graphs[i];
    if (loaded.graph->inputs()[0]->hasUses()) {
      throw Error(Code::kNotMerged, "'" + node.name + "' keeps attributes");
    }
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (loaded.writes_input[k]) {
        throw Error(Code::kNotMerged,
                    "'" + node.name + "' changes its input '" + node.inputs[k].name + "' in place");
      }
    }
    const std::shared_ptr<jit::Graph> pure = loaded.graph->copy();
    pure->eraseInput(0);
    std::vector<jit::Value*> arguments;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const std::optional<Wiring::Source>& source = wiring.source_of({i, k});
      arguments.push_back(source ? outputs.at(to_string(output_ref(part, source->output)))
                                 : inputs.at(node.name + "/" + node.inputs[k].name));
    }
    const std::vector<jit::Value*> returned = jit::insertGraph(*graph, *pure, arguments);
    const std::vector<jit::Value*> values = unpack(*graph, returned, node);
    for (std::size_t k = 0; k < values.size(); ++k) {
      outputs[node.name + "/" + node.outputs[k].name] = values[k];
    }
  }
  for (const Port& port : signature.outputs) graph->registerOutput(outputs.at(port.name));
  TorchProgram program = finish(graph, signature.name);
  program.writes_input.assign(signature.inputs.size(), false);
  return program;
}

}  // namespace leapp
