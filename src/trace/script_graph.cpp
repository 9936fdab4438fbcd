#include "trace/script_graph.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/ir/constants.h>

#include <string>
#include <unordered_map>

#include "base/check.h"
#include "ir/passes.h"
#include "trace/dispatcher.h"
#include "trace/graph_builder.h"
#include "trace/op_traits.h"

namespace leapp::trace {
namespace {

namespace jit = torch::jit;

// Lists and tuples of values, constructed or unpacked. False for all other nodes.
bool rearranges(const jit::Node& node, jit::Stack& stack) {
  if (node.kind() == c10::prim::ListConstruct) {
    c10::impl::GenericList list(node.output()->type()->expectRef<c10::ListType>().getElementType());
    for (const c10::IValue& item : stack) list.push_back(item);
    stack.assign(1, c10::IValue(std::move(list)));
  } else if (node.kind() == c10::prim::TupleConstruct) {
    stack.assign(1, c10::IValue(c10::ivalue::Tuple::create(stack)));
  } else if (node.kind() == c10::prim::ListUnpack) {
    stack = stack.front().toList().vec();
  } else if (node.kind() == c10::prim::TupleUnpack) {
    stack = stack.front().toTuple()->elements().vec();
  } else {
    return false;
  }
  require(stack.size() == node.outputs().size(), Code::kNotTranslated,
          "a list has a different length than the graph expects");
  return true;
}

// A model contains the devices on which it creates tensors; here it runs on the CPU.
c10::IValue on_cpu(c10::IValue constant) {
  return constant.isDevice() ? c10::IValue(at::Device(at::kCPU)) : constant;
}

// Appends the tensors of a result: one, or those of a tuple or a list.
void take_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTuple()) {
    for (const c10::IValue& each : value.toTuple()->elements()) take_tensors(each, tensors);
  } else if (value.isTensorList()) {
    for (const at::Tensor& each : value.toTensorVector()) tensors.push_back(each);
  } else {
    require(value.isTensor() && value.toTensor().defined(), Code::kNotTranslated,
            "an output is not a tensor");
    tensors.push_back(value.toTensor());
  }
}

class ScriptReader final : public Observer {
 public:
  explicit ScriptReader(const std::function<bool(const std::string&)>& keep) : keep_(keep) {}

  ScriptGraph read(const jit::Graph& graph, const std::vector<at::Tensor>& examples);

  void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, jit::Stack* stack) override;

 private:
  void run(const jit::Node& node);

  const std::function<bool(const std::string&)>& keep_;
  GraphBuilder builder_{nullptr, RunFor::kValues};
  std::unordered_map<const jit::Value*, c10::IValue> values_;
};

void ScriptReader::on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                           jit::Stack* stack) {
  const std::string& name = op.schema().name();
  const OpTraits& traits = traits_of(op);
  require(!traits.mutates && !traits.only_metadata, Code::kNotTranslated,
          name + " writes to memory");
  require(traits.escape == Escape::kNone && !traits.has_data_dependent_shape(*stack),
          Code::kNotTranslated,
          name + " has a result whose shape or Python value depends on values");
  require(!traits.is_random(*stack), Code::kNotTranslated, name + " draws random numbers");
  if (builder_.is_constant(op, *stack) || keep_(c10::toString(op.operator_name()))) {
    builder_.run(op, stack, {});
    return;
  }
  const bool composite = op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  require(composite, Code::kNotTranslated,
          name + " is not among the operators to keep, and cannot be decomposed");
  redispatch_below(op, keys, stack);
}

void ScriptReader::run(const jit::Node& node) {
  require(node.blocks().empty(), Code::kNotTranslated, "the graph branches");
  if (node.kind() == c10::prim::Constant) {
    values_[node.output()] = on_cpu(*jit::toIValue(node.output()));
    return;
  }
  jit::Stack stack;
  for (const jit::Value* input : node.inputs()) stack.push_back(values_.at(input));
  if (!rearranges(node, stack)) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    const auto op = schema == nullptr
                        ? std::nullopt
                        : c10::Dispatcher::singleton().findSchema(schema->operator_name());
    require(op.has_value(), Code::kNotTranslated,
            std::string(node.kind().toQualString()) + " is not an operator of the dispatcher");
    op->callBoxed(&stack);
  }
  for (std::size_t i = 0; i < stack.size(); ++i) values_[node.outputs()[i]] = stack[i];
}

ScriptGraph ScriptReader::read(const jit::Graph& graph, const std::vector<at::Tensor>& examples) {
  require(can_observe(), Code::kNotTranslated, "another copy of LEAPP observes the operators");
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    builder_.add_input("in" + std::to_string(i), examples[i]);
    values_[graph.inputs()[i]] = examples[i];
  }
  {
    const Observing observing(*this);
    for (const jit::Node* node : graph.nodes()) run(*node);
  }
  ScriptGraph result;
  for (const jit::Value* output : graph.outputs()) take_tensors(values_.at(output), result.outputs);
  std::vector<ir::ValueId> outputs;
  for (const at::Tensor& output : result.outputs) outputs.push_back(builder_.value_of(output));
  result.graph = std::move(builder_.graph());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result.graph.add_output("out" + std::to_string(i), outputs[i]);
  }
  return result;
}

}  // namespace

ScriptGraph read_script(const jit::Graph& graph, const std::vector<at::Tensor>& examples,
                        const std::function<bool(const std::string&)>& keep) {
  ScriptGraph read = ScriptReader(keep).read(graph, examples);
  ir::remove_dead_code(read.graph);
  ir::remove_identities(read.graph);
  ir::merge_constants(read.graph);
  ir::merge_duplicates(read.graph);
  ir::verify(read.graph);
  return read;
}

}  // namespace leapp::trace
