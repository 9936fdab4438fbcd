#include "compile/inventory.h"

#include <ATen/ops/isnan.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "interop/convert.h"
#include "state/written.h"
#include "trace/constant.h"
#include "trace/geometry.h"
#include "trace/op_traits.h"
#include "trace/wrapped_number.h"

namespace leapp::compile {
namespace {

using session::HeldTensor;
using session::NumberRead;
using trace::kNoId;
using trace::VarId;
using Kind = ExportedConstant::Kind;

// Tensors that were created inside a node are shown to the judge up to this size.
constexpr std::int64_t kMostLiterals = 64;

// The smallest and the largest element, without NaN.
void add_range(const at::Tensor& content, ExportedConstant& constant) {
  if (!content.defined() || content.numel() == 0) return;
  at::Tensor values = trace::copy_of(content).cpu();
  if (values.is_complex()) values = values.abs();
  values = values.to(at::kDouble).contiguous();
  bool any = false;
  const double* value = values.const_data_ptr<double>();
  for (std::int64_t i = 0; i < values.numel(); ++i, ++value) {
    if (std::isnan(*value)) {
      constant.has_nan = true;
      continue;
    }
    constant.min = any ? std::min(constant.min, *value) : *value;
    constant.max = any ? std::max(constant.max, *value) : *value;
    any = true;
  }
}

std::vector<double> values_of(const at::Tensor& content) {
  const at::Tensor values = trace::copy_of(content).cpu().to(at::kDouble).contiguous();
  const double* first = values.const_data_ptr<double>();
  return {first, first + values.numel()};
}

// The numbers in an argument that is not a tensor.
std::vector<double> numbers_in(const c10::IValue& value) {
  if (trace::is_wrapped_number(value)) {
    const at::Scalar number = value.toTensor().item();
    if (number.isBoolean() || number.isComplex()) return {};
    return {number.toDouble()};
  }
  if (value.isInt()) return {static_cast<double>(value.toInt())};
  if (value.isDouble()) return {value.toDouble()};
  if (value.isDoubleList()) return value.toDoubleVector();
  std::vector<double> numbers;
  if (value.isIntList()) {
    for (const std::int64_t each : value.toIntVector()) {
      numbers.push_back(static_cast<double>(each));
    }
  }
  return numbers;
}

// Returns whether an argument specifies the way of computing rather than an operand.
bool is_structure(const c10::Argument& declared) {
  using c10::TypeKind;
  const c10::TypePtr& type = declared.real_type();
  const TypeKind kind = type->kind();
  const bool is_enum = kind == TypeKind::ScalarTypeType || kind == TypeKind::LayoutType ||
                       kind == TypeKind::MemoryFormatType || kind == TypeKind::DeviceObjType;
  const std::string& name = declared.name();
  return is_enum || name.starts_with("dim") || name.ends_with("_dim") || name == "dtype" ||
         name == "layout" || name == "memory_format" || name == "reduction";
}

// Collects from the exported passes of one node.
class Collector {
 public:
  Collector(const state::NodeStates& states, const Holders& holders, const state::Paths& paths)
      : states_(states), holders_(holders), paths_(paths) {
    made.node = states.node->name;
  }

  void collect() {
    collect_pass(states_.exported(), state::recording_of(states_), state::slots_of(states_.states),
                 states_.states);
    if (states_.opening.empty()) return;
    const session::Pass& first = states_.node->passes.front();
    trace::Recording recording = first.recording;
    recording.calls = trace::calls_for(recording, states_.opening);
    collect_pass(first, recording, states_.opening, {});
  }

  // Leaves out numbers that the judge recognises as literals, sizes or library numbers.
  void add_numbers(session::FrontEnd* judge) {
    if (reads_.empty()) return;
    const auto verdicts = judge != nullptr ? judge->judge_numbers(reads_)
                                           : std::vector<std::optional<std::string>>(reads_.size());
    std::set<std::tuple<std::string, std::string, double>> known;
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      const bool is_tensor = reads_[i].made_here;
      if (!verdicts[i] && !(is_tensor && judge == nullptr)) continue;
      ExportedConstant constant = pending_[i];
      if (!is_tensor) constant.path = *verdicts[i];
      if (known.emplace(constant.where, constant.op, constant.min).second || is_tensor) {
        made.constants.push_back(std::move(constant));
      }
    }
  }

  NodeInventory made;

 private:
  void collect_pass(const session::Pass& pass, const trace::Recording& recording,
                    const std::vector<trace::StateSlot>& slots,
                    const std::vector<state::State>& states) {
    const trace::Tape& tape = pass.tape();
    std::set<trace::Site> given;
    std::set<trace::StoreId> memory = state::stores_of(pass, states);
    for (const trace::StateSlot& slot : slots) {
      given.insert(slot.sites.begin(), slot.sites.end());
      if (slot.before != kNoId) memory.insert(tape.variable(slot.before).store);
    }
    memory.erase(kNoId);
    std::set<std::pair<trace::StoreId, VarId>> seen;
    const auto visit = [&](VarId var, const std::string& op, trace::FrameRef frame) {
      var = trace::aliased(tape, var);
      if (var == kNoId || !trace::is_outside_or_fresh(tape, var)) return;
      const trace::StoreId store = tape.variable(var).store;
      if (memory.contains(store)) return;
      if (!seen.emplace(store, store == kNoId ? var : kNoId).second) return;
      add_tensor(pass, var, op, frame);
    };
    for (const std::int32_t index : recording.calls) {
      const trace::Call& call = tape.call(index);
      if (call.is_inferred_alias()) continue;
      const std::string& op = call.op.schema().name();
      const trace::OpTraits& traits = trace::traits_of(call.op);
      const bool shape_only = trace::makes_constant(call.op);
      trace::for_each_site(tape, index, [&](const trace::Site& site, VarId var) {
        if (given.contains(site) || (shape_only && site.arg == 0)) return;
        if (traits.overwrites[static_cast<std::size_t>(site.arg)]) return;
        visit(var, op, call.frame);
      });
      add_numbers(tape, call);
    }
    for (const trace::Recording::Port& output : recording.outputs) {
      visit(output.var, "", pass.closed_at);
    }
    for (const trace::StateSlot& slot : slots) visit(slot.after, "", pass.closed_at);
  }

  void add_tensor(const session::Pass& pass, VarId var, const std::string& op,
                  trace::FrameRef frame) {
    const trace::Tape& tape = pass.tape();
    const trace::Variable& variable = tape.variable(var);
    const at::Tensor tensor = tape.tensor(var);
    if (!tensor.defined()) return;
    const void* address = tensor.has_storage() ? tensor.const_data_ptr() : nullptr;
    const HeldTensor* holder = holders_.find(address);
    const session::MemoryUse* use = pass.find_memory(var);
    const bool declared = use != nullptr && !use->declared.empty();
    const bool is_leaf = tensor.requires_grad() && tensor.is_leaf();
    if (holder != nullptr ? holder->kind != HeldTensor::Kind::kOther : is_leaf || declared) {
      const bool is_buffer =
          holder != nullptr ? holder->kind == HeldTensor::Kind::kBuffer : !is_leaf;
      add_weight(holder == nullptr ? "" : holder->module, is_buffer, tensor);
      return;
    }
    ExportedConstant constant{.kind = Kind::kTensor,
                              .path = holder != nullptr ? holder->path : paths_(tensor),
                              .where = trace::resolve_source(frame).to_string(),
                              .op = op,
                              .dtype = interop::to_dtype(tensor.scalar_type()),
                              .shape = tensor.sizes().vec()};
    const at::Tensor content = tape.content(var);
    add_range(content, constant);
    constant.acknowledged = is_acknowledged(constant, address);
    const bool fresh = variable.store != kNoId && tape.store(variable.store).fresh;
    const bool is_real = !content.is_complex() && content.numel() <= kMostLiterals;
    if (fresh && is_real && constant.path.empty()) {
      reads_.push_back(
          {tape.store(variable.store).made_at, op, "", values_of(content), false, true});
      pending_.push_back(std::move(constant));
      return;
    }
    made.constants.push_back(std::move(constant));
  }

  void add_weight(const std::string& module, bool is_buffer, const at::Tensor& tensor) {
    auto found = std::ranges::find(made.weights, module, &ExportedWeights::module);
    if (found == made.weights.end()) found = made.weights.insert(found, {.module = module});
    (is_buffer ? found->buffers : found->parameters) += 1;
    found->values += tensor.numel();
  }

  // Returns whether the number is a size of a tensor that the call reads or returns.
  static bool is_size(const trace::Tape& tape, const trace::Call& call, double number) {
    if (number >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return true;
    bool found = number == -1;
    const auto compare = [&](VarId var) {
      if (var == kNoId) return;
      const at::Tensor tensor = tape.tensor(var);
      if (!tensor.defined()) return;
      found |= static_cast<double>(tensor.numel()) == number;
      for (const std::int64_t size : tensor.sizes()) found |= static_cast<double>(size) == number;
    };
    trace::for_each_variable(tape, call, compare);
    trace::for_each_result(tape, call, compare);
    return found;
  }

  void add_numbers(const trace::Tape& tape, const trace::Call& call) {
    if (call.frame.code == nullptr || call.frame.position < 0) return;  // in a C++ program
    const auto& declared = call.op.schema().arguments();
    const trace::Arg* args = tape.args_of(call);
    for (std::size_t i = 0; i < declared.size(); ++i) {
      if (args[i].kind != trace::Arg::Kind::kValue || is_structure(declared[i])) continue;
      const bool is_integer = args[i].value.isInt() || args[i].value.isIntList();
      const auto& fallback = declared[i].default_value();
      for (const double number : numbers_in(args[i].value)) {
        if (is_integer && is_size(tape, call, number)) continue;
        const bool is_default = fallback && numbers_in(*fallback) == std::vector{number};
        reads_.push_back(
            {call.frame, call.op.schema().name(), declared[i].name(), {number}, is_default, false});
        ExportedConstant constant{.kind = Kind::kNumber,
                                  .where = trace::resolve_source(call.frame).to_string(),
                                  .op = call.op.schema().name(),
                                  .dtype = is_integer ? DType::kInt64 : DType::kFloat64,
                                  .min = number,
                                  .max = number};
        constant.has_nan = std::isnan(number);
        pending_.push_back(std::move(constant));
      }
    }
  }

  bool is_acknowledged(const ExportedConstant& constant, const void* address) const {
    return std::ranges::any_of(states_.node->constants, [&](const TensorSemantics& known) {
      if (!known.ref.defined()) return acknowledges(known.name, constant);
      return known.ref.has_storage() && known.ref.const_data_ptr() == address;
    });
  }

  const state::NodeStates& states_;
  const Holders& holders_;
  const state::Paths& paths_;
  std::vector<NumberRead> reads_;
  std::vector<ExportedConstant> pending_;  // one for each of them
};

}  // namespace

Holders::Holders(std::vector<HeldTensor> held) : held_(std::move(held)) {
  std::ranges::stable_sort(held_, {}, [](const HeldTensor& each) {
    return std::pair(each.address, each.kind == HeldTensor::Kind::kOther);
  });
}

const HeldTensor* Holders::find(const void* address) const {
  if (address == nullptr) return nullptr;
  const auto* wanted = static_cast<const std::byte*>(address);
  const auto exact = std::ranges::lower_bound(held_, wanted, {}, &HeldTensor::address);
  if (exact != held_.end() && exact->address == wanted) return &*exact;
  for (auto it = exact; it != held_.begin();) {
    --it;
    if (wanted < it->address + it->bytes) return &*it;
  }
  return nullptr;
}

NodeInventory collect_constants(const state::NodeStates& states, const Holders& holders,
                                const state::Paths& paths, session::FrontEnd* judge) {
  Collector collector(states, holders, paths);
  collector.collect();
  collector.add_numbers(judge);
  for (ExportedConstant& constant : collector.made.constants) {
    if (constant.acknowledged) continue;
    constant.acknowledged =
        std::ranges::any_of(states.node->constants, [&](const TensorSemantics& known) {
          return !known.ref.defined() && acknowledges(known.name, constant);
        });
  }
  return std::move(collector.made);
}

std::string to_block(const NodeInventory& inventory, std::size_t most) {
  std::string block;
  std::size_t shown = 0;
  std::size_t hidden = 0;
  for (const ExportedConstant& constant : inventory.constants) {
    if (constant.acknowledged) continue;
    if (shown == most) {
      ++hidden;
      continue;
    }
    ++shown;
    block += "\n  " + to_string(constant);
  }
  if (block.empty()) return block;
  if (hidden > 0) block += "\n  and " + std::to_string(hidden) + " more, see leapp.inventory()";
  return "node '" + inventory.node +
         "' exports these values as constants. If one of them varies, pass it through "
         "annotate.input_tensors(); acknowledge real constants with constants=[..]." +
         block;
}

std::vector<std::string> unused_acknowledgements(const session::Node& node,
                                                 const NodeInventory& inventory) {
  std::vector<std::string> unused;
  for (const TensorSemantics& known : node.constants) {
    if (known.ref.defined()) continue;
    const auto covers = [&](const ExportedConstant& each) {
      return acknowledges(known.name, each);
    };
    if (std::ranges::none_of(inventory.constants, covers)) unused.push_back(known.name);
  }
  return unused;
}

}  // namespace leapp::compile
