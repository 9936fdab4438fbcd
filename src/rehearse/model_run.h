// A model of the bundle, run once on PyTorch's tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "interop/convert.h"
#include "leapp/bundle.h"
#include "leapp/comparison.h"
#include "leapp/engine.h"

namespace leapp::rehearse {

using Tensors = std::vector<at::Tensor>;

using interop::on_host;

/// The tensors, which are on the host, must outlive the views.
std::vector<ConstTensorView> views_of(const Tensors& tensors);

/// Whether two tensors on the host agree.
bool agree(const at::Tensor& a, const at::Tensor& b, const Tolerance& tolerance);

/// The outputs for these inputs, all of them on the host. Throws Error where it cannot run.
Tensors run_model(Engine& engine, const Model& model, const Tensors& inputs);

}  // namespace leapp::rehearse
