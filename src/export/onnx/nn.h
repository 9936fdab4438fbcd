// Functions that several families of neural network operators share.
#pragma once

#include <string>

#include "export/onnx/ops.h"

namespace leapp::onnx_export {

/// Returns GELU; `approximate` is PyTorch's: "none" or "tanh".
Value gelu(Value x, const std::string& approximate);
/// Returns log(1 + exp(x)).
Value softplus(Value x);
/// Returns softmax; `op_type` is "Softmax" or "LogSoftmax".
Value softmax(const char* op_type, Value x, std::int64_t dim);
/// Returns a softmax that is 0 instead of NaN if all elements are -inf.
Value safe_softmax(Value x, std::int64_t dim);

/// Normalises over the last dimensions, given by `normalized_shape`; weight and bias may be
/// undefined.
Value layer_norm(Value x, const Shape& normalized_shape, Value weight, Value bias, double epsilon);

/// Returns x W^T + b with the weight in PyTorch's layout; bias may be undefined.
Value linear(Value x, Value weight, Value bias);

struct Attention {
  Value mask;  ///< bool (true is visible) or added to the scores; may be undefined
  bool is_causal = false;
  double scale = 1.0;
};

/// Returns Softmax(q k^T scale + mask).
Value attention_weights(Value query, Value key, const Attention& attention);

/// Returns softmax(q k^T scale + mask) v over the last two dimensions. Rows that the mask excludes
/// completely are zero.
Value scaled_dot_product(Value query, Value key, Value value, const Attention& attention);

}  // namespace leapp::onnx_export
