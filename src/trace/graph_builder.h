// Builds a pure graph from plain operators that run while it observes them.
//
// The builder knows the tensors that depend on the graph's inputs. An operator over such tensors is
// appended; an operator over none is folded: its results enter the graph as constants if a recorded
// operator reads them.
//
// Not thread-safe. Owns the tensors that became constants, and refers to the others weakly.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/flat_hash_map.h>

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "trace/dynamic_dims.h"
#include "trace/source.h"
#include "trace/strided.h"

namespace leapp::trace {

/// The purpose of running operators.
enum class RunFor {
  kValues,
  kShapes,  ///< large products give zeros; Error(kExport) if a value is read later
};

class GraphBuilder {
 public:
  /// Creates the builder. `name` returns the name of each tensor that becomes a constant; it may be
  /// empty.
  GraphBuilder(std::function<std::string(const at::Tensor&)> name, RunFor run_for)
      : name_(std::move(name)), run_for_(run_for) {}

  /// Makes the tensor an input of the graph.
  ir::ValueId add_input(std::string name, const at::Tensor& tensor);

  /// Returns whether the tensor, or one in the list, depends on an input.
  bool depends_on_inputs(const c10::IValue& value) const;

  /// Returns whether no argument on the stack depends on an input: run() then records nothing.
  bool is_constant(const c10::OperatorHandle& op, const torch::jit::Stack& stack) const;

  /// Runs the operator, and records it if one of its tensors depends on an input.
  void run(const c10::OperatorHandle& op, torch::jit::Stack* stack,
           const ir::SourceLocation& where);

  /// Returns the value of a tensor: a constant if it depends on no input.
  ir::ValueId value_of(const at::Tensor& tensor);

  ir::Graph& graph() noexcept { return graph_; }

 private:
  struct Known {
    c10::weak_intrusive_ptr<c10::TensorImpl> impl;  // prevents the reuse of the address
    ir::ValueId value;
  };
  using ConstantKey = std::tuple<const void*, Shape, Shape, c10::ScalarType, std::string>;

  bool decompose(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                 const ir::SourceLocation& where);
  at::Tensor call(const char* name, const char* overload, torch::jit::Stack arguments,
                  const ir::SourceLocation& where);
  at::Tensor as_type(const at::Tensor& tensor, const at::Tensor& like,
                     const ir::SourceLocation& where);
  at::Tensor filled(const at::Tensor& like, const c10::IValue& value,
                    const ir::SourceLocation& where);
  at::Tensor strided(const at::Tensor& self, const at::Tensor& source, const c10::IValue* geometry,
                     const ir::SourceLocation& where);
  at::Tensor sliced(const at::Tensor& self, const at::Tensor& source,
                    const std::vector<Range>& ranges, const std::vector<std::int64_t>& sizes,
                    const ir::SourceLocation& where);
  void compute(const c10::OperatorHandle& op, torch::jit::Stack* stack);
  DynamicDims dynamic_dims_of(const at::Tensor& tensor) const;
  std::vector<DynamicDims> dynamic_arguments(const c10::OperatorHandle& op,
                                             const torch::jit::Stack& stack) const;
  void infer_dynamic_size(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                          const std::vector<DynamicDims>& dynamic) const;
  ir::Op describe(const c10::OperatorHandle& op, const c10::IValue* args);
  ir::Argument argument(const c10::IValue& value, const c10::Type& type);
  ir::Result define(const c10::IValue& value);
  ir::ValueId define_tensor(const at::Tensor& tensor);
  ir::ValueId constant(const at::Tensor& tensor);

  std::function<std::string(const at::Tensor&)> name_;
  RunFor run_for_;
  bool has_placeholders_ = false;  // some results are zeros instead of computed values
  ir::Graph graph_;
  ska::flat_hash_map<const c10::TensorImpl*, Known> known_;
  std::map<ConstantKey, ir::ValueId> constants_;
  std::map<ir::ValueId, DynamicDims> dynamic_dims_;  // of values with a data-dependent shape
  std::vector<at::Tensor> constant_tensors_;         // keeps the address of a ConstantKey valid
};

}  // namespace leapp::trace
