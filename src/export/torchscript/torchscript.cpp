#include "export/torchscript/torchscript.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/scalar_tensor.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/unused_name.h"
#include "interop/convert.h"
#include "runtime/engines/operators.h"

namespace leapp::torchscript {
namespace {

using torch::jit::Value;

// Names that a reader of the file would treat as a call of code that does more than compute.
bool looks_like_action(const std::string& name) {
  if (is_action(name)) return true;
  const auto exists = [&](const std::string& space) {
    return !torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(space + "::" + name))
                .empty();
  };
  return !only_computes(name) && (exists("aten") || exists("prim"));
}

// TorchScript prints a graph as Python source, so names must be valid in Python.
std::string identifier(const std::string& name, std::set<std::string>& taken) {
  const bool needs_prefix =
      name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  std::string text = needs_prefix ? "_" : "";
  for (const char c : name) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    text += fits ? c : '_';
  }
  return *taken
              .insert(unused_name(text,
                                  [&](const std::string& each) {
                                    return looks_like_action(each) || taken.contains(each);
                                  }))
              .first;
}

class Lowering {
 public:
  explicit Lowering(const ir::Graph& graph) : source_(graph), values_(graph.value_count()) {}

  torch::jit::Module run();

 private:
  Value* value(ir::ValueId id);
  Value* constant(ir::ValueId id);
  Value* none() { return graph_->insertNode(graph_->createNone())->output(); }
  Value* number(const c10::IValue& value) { return graph_->insertConstant(value); }
  Value* flag(bool flag, const c10::Argument& declared);
  Value* argument(const ir::Argument& argument, const c10::Argument& declared);
  Value* tensor_list(const std::vector<ir::ValueRef>& refs, const c10::Argument& declared);
  torch::jit::Node* call(const ir::Op& op, const c10::FunctionSchema& schema);
  void lower(const ir::Op& op);

  const ir::Graph& source_;
  std::vector<Value*> values_;
  torch::jit::Module module_{"Node"};
  std::shared_ptr<torch::jit::Graph> graph_ = std::make_shared<torch::jit::Graph>();
  Value* self_ = nullptr;
  std::set<std::string> attributes_;
  bool flags_as_tensors_ = true;
};

Value* Lowering::value(ir::ValueId id) {
  if (id == ir::kNoValue) return none();
  Value*& slot = values_[static_cast<std::size_t>(id)];
  if (slot == nullptr) slot = constant(id);
  return slot;
}

// A constant is read at its first use; attributes are shared, so no element is copied.
Value* Lowering::constant(ir::ValueId id) {
  demand(source_.is_constant(id), "an operator reads an undefined value");
  const ir::Value& info = source_.value(id);
  const std::string name = identifier(
      info.name.empty() ? "constant_" + std::to_string(info.index) : info.name, attributes_);
  module_.register_buffer(name, interop::to_tensor(source_.blob(id)));
  const torch::jit::WithInsertPoint at_start(graph_->block()->nodes().front());
  Value* loaded = graph_->insertGetAttr(self_, name);
  loaded->setType(c10::TensorType::get());
  return loaded;
}

Value* Lowering::tensor_list(const std::vector<ir::ValueRef>& refs, const c10::Argument& declared) {
  c10::TypePtr type = declared.type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  c10::TypePtr item_type = c10::TensorType::get();
  if (const auto list = type->cast<c10::ListType>()) item_type = list->getElementType();
  std::vector<Value*> items;
  items.reserve(refs.size());
  for (const ir::ValueRef ref : refs) items.push_back(value(ref.id));
  return graph_->insertNode(graph_->createList(item_type, items))->output();
}

// Converts a bool to 0 or 1: TorchScript does not convert it, although operators accept one: `x *
// True`. A Python number would promote a mask, a 0-d tensor does not.
Value* Lowering::flag(bool flag, const c10::Argument& declared) {
  c10::TypePtr type = declared.type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  if (type->kind() != c10::TypeKind::NumberType) return number(flag);
  return flags_as_tensors_ ? number(at::scalar_tensor(flag, at::kBool))
                           : number(static_cast<std::int64_t>(flag));
}

Value* Lowering::argument(const ir::Argument& argument, const c10::Argument& declared) {
  struct Visitor {
    Lowering& lowering;
    const c10::Argument& declared;

    Value* operator()(std::monostate) const { return lowering.none(); }
    Value* operator()(ir::ValueRef ref) const { return lowering.value(ref.id); }
    Value* operator()(const std::vector<ir::ValueRef>& refs) const {
      return lowering.tensor_list(refs, declared);
    }
    Value* operator()(DType dtype) const {
      return lowering.number(static_cast<std::int64_t>(interop::to_scalar_type(dtype)));
    }
    Value* operator()(const ir::Device& device) const {
      return lowering.number(c10::Device(device.name));
    }
    Value* operator()(std::complex<double> number) const {
      return lowering.number(c10::complex<double>(number.real(), number.imag()));
    }
    Value* operator()(const std::vector<bool>& flags) const {
      c10::List<bool> list;
      for (const bool flag : flags) list.push_back(flag);
      return lowering.number(list);
    }
    Value* operator()(const std::vector<std::string>& texts) const {
      c10::List<std::string> list;
      for (const std::string& text : texts) list.push_back(text);
      return lowering.number(list);
    }
    Value* operator()(const std::vector<std::int64_t>& numbers) const {
      return lowering.number(c10::IValue(c10::List<std::int64_t>(numbers)));
    }
    Value* operator()(const std::vector<double>& numbers) const {
      return lowering.number(c10::IValue(c10::List<double>(numbers)));
    }
    Value* operator()(bool flag) const { return lowering.flag(flag, declared); }
    Value* operator()(std::int64_t integer) const { return lowering.number(integer); }
    Value* operator()(double real) const { return lowering.number(real); }
    Value* operator()(const std::string& text) const { return lowering.number(text); }
  };
  return std::visit(Visitor{*this, declared}, argument);
}

torch::jit::Node* Lowering::call(const ir::Op& op, const c10::FunctionSchema& schema) {
  const bool beside_mask = std::ranges::any_of(op.arguments, [&](const ir::Argument& argument) {
    const auto* ref = std::get_if<ir::ValueRef>(&argument);
    return ref != nullptr && ref->id != ir::kNoValue &&
           source_.value(ref->id).type.dtype == DType::kBool;
  });
  for (const bool as_tensors : {beside_mask, !beside_mask}) {
    flags_as_tensors_ = as_tensors;
    std::vector<Value*> inputs;
    inputs.reserve(op.arguments.size());
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      inputs.push_back(argument(op.arguments[i], schema.arguments()[i]));
    }
    torch::jit::Node* node =
        graph_->create(c10::Symbol::fromQualString(schema.name()), inputs, schema.returns().size());
    graph_->insertNode(node);
    if (node->maybeOperator() != nullptr) return node;
    node->destroy();
  }
  TORCH_CHECK(false, "it has no such operator");
}

void Lowering::lower(const ir::Op& op) {
  const auto handle =
      c10::Dispatcher::singleton().findSchema({op.signature->name, op.signature->overload});
  require(handle.has_value(), Code::kNoTorchScript,
          op.signature->qualified_name() + " is no longer registered with PyTorch");
  const c10::FunctionSchema& schema = handle->schema();
  torch::jit::Node* node = call(op, schema);
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    Value* output = node->outputs()[i];
    output->setType(schema.returns()[i].type());
    const ir::Result& result = op.results[i];
    if (!result.is_list) {
      if (result.values[0] != ir::kNoValue) {
        values_[static_cast<std::size_t>(result.values[0])] = output;
      }
      continue;
    }
    torch::jit::Node* unpack = graph_->createListUnpack(output, result.values.size());
    graph_->insertNode(unpack);
    for (std::size_t k = 0; k < result.values.size(); ++k) {
      if (result.values[k] == ir::kNoValue) continue;
      values_[static_cast<std::size_t>(result.values[k])] = unpack->outputs()[k];
    }
  }
}

// PyTorch appends its own source line to an error.
std::string first_line(const std::exception& error) {
  const auto* own = dynamic_cast<const c10::Error*>(&error);
  const std::string text = own == nullptr ? error.what() : own->what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

torch::jit::Module Lowering::run() {
  std::set<std::string> names = {"self"};
  self_ = graph_->addInput("self");
  self_->setType(module_.type());
  for (const ir::ValueId id : source_.inputs()) {
    Value* input = graph_->addInput(identifier(source_.value(id).name, names));
    input->setType(c10::TensorType::get());
    values_[static_cast<std::size_t>(id)] = input;
  }
  // The insertion point at the start of the graph: constants are inserted before it.
  torch::jit::Node* anchor = graph_->insertNode(graph_->createNone());
  for (const ir::Op& op : source_.ops()) {
    try {
      lower(op);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(Code::kNoTorchScript,
                  "TorchScript cannot express " + op.signature->qualified_name() +
                      (op.source.known() ? " (" + op.source.to_string() + ")" : "") + ": " +
                      first_line(error) + ". Use another operator, or export_with='onnx'.");
    }
  }
  std::vector<Value*> outputs;
  for (const ir::Graph::Output& output : source_.outputs()) outputs.push_back(value(output.value));
  graph_->registerOutput(outputs.size() == 1
                             ? outputs.front()
                             : graph_->insertNode(graph_->createTuple(outputs))->output());
  if (!anchor->hasUses()) anchor->destroy();
  module_.type()->addMethod(module_._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module_.type()->name(), "forward"), graph_));
  return std::move(module_);
}

}  // namespace

void write(const ir::Graph& graph, const std::filesystem::path& file, const Options& options) {
  torch::jit::Module module = Lowering(graph).run();
  module.eval();
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  try {
    if (options.optimize) module = torch::jit::optimize_for_inference(module);
    // libtorch's writer ends the process if writing fails, so this callback always reports success.
    torch::jit::ExportModule(module, [&](const void* bytes, std::size_t size) {
      if (stream) {
        stream.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
      }
      return size;
    });
  } catch (const std::exception& error) {
    throw Error(Code::kNoTorchScript,
                "TorchScript could not be written to " + file.string() + ": " + error.what());
  }
  stream.close();
  require(!stream.fail(), Code::kIo,
          "cannot write the TorchScript file " + file.string() +
              ": check that the directory exists, is writable and has space left");
}

std::optional<std::vector<Parameter>> parameters_of(const std::filesystem::path& file) {
  const torch::jit::Module module = torch::jit::load(file.string(), at::kCPU);
  const auto method = module.find_method("forward");
  if (!method) return std::nullopt;
  std::vector<Parameter> parameters;
  for (const c10::Argument& argument : method->function().getSchema().arguments()) {
    parameters.push_back({argument.name(), !argument.default_value().has_value()});
  }
  parameters.erase(parameters.begin());  // self
  return parameters;
}

}  // namespace leapp::torchscript
