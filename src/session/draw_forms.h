// Random operators as arithmetic over standard numbers.
//
// A form has two directions. `numbers` finds standard numbers that give the numbers that were
// drawn; if several do, as for bernoulli(), it returns the middle of their range. `values` computes
// the drawn numbers from them, with operators that are recorded.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <span>
#include <string_view>
#include <vector>

#include "bundle/noise.h"

namespace leapp::session {

/// A call of a random operator that has returned.
struct Draw {
  const c10::FunctionSchema& schema;
  torch::jit::Stack arguments;      ///< those that it wrote to have the drawn numbers
  std::vector<at::Tensor> targets;  ///< its results, and then further tensors that it wrote to

  /// Creates a draw from a call. `results` may alias arguments.
  Draw(const c10::FunctionSchema& schema, torch::jit::Stack arguments,
       std::span<const c10::IValue> results);

  /// Returns the argument of that name, or null if it is absent or None.
  const c10::IValue* find(std::string_view name) const;
  /// Returns a number, or 0 if it is absent.
  double number(std::string_view name) const;
  const at::Tensor& tensor(std::string_view name) const { return find(name)->toTensor(); }
  const at::Tensor& self() const { return arguments.front().toTensor(); }
  const at::Tensor& result() const { return targets.front(); }
};

/// Returns whether calls of an operator have a form, unless their arguments prevent it.
bool has_draw_form(std::string_view name);

struct DrawForm {
  NoiseDistribution distribution;
  bool is_continuous;  ///< two draws almost never have the same numbers
  /// Returns the standard numbers in double precision; undefined if this call has no such form.
  at::Tensor (*numbers)(const Draw& draw);
  /// Returns a value for each target from numbers in single precision.
  std::vector<at::Tensor> (*values)(const Draw& draw, const at::Tensor& numbers);
};

/// Returns the form of a draw, or null.
const DrawForm* find_draw_form(const Draw& draw);

}  // namespace leapp::session
