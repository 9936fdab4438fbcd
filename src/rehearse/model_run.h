// One run of a model of the bundle on PyTorch's tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "interop/convert.h"
#include "leapp/bundle.h"
#include "leapp/comparison.h"
#include "leapp/engine.h"

namespace leapp::rehearse {

using Tensors = std::vector<at::Tensor>;

using interop::on_host;

/// Returns views of tensors on the host, which must outlive the views.
std::vector<ConstTensorView> views_of(const Tensors& tensors);

/// Returns the largest difference of two tensors with the same shape, as text.
std::string largest_difference(const at::Tensor& a, const at::Tensor& b);

/// Returns whether two tensors on the host agree.
bool agree(const at::Tensor& a, const at::Tensor& b, const Tolerance& tolerance);

/// Returns the outputs for these inputs, all on the host. Throws Error if the model cannot run.
Tensors run_model(Engine& engine, const Model& model, const Tensors& inputs);

}  // namespace leapp::rehearse
