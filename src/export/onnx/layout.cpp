#include "export/onnx/layout.h"

#include <algorithm>
#include <string>

#include "export/onnx/ops.h"

namespace leapp::onnx_export {

Value before_reshape(Value x) {
  const BuiltNode* node = x.builder().producer(x);
  if (node == nullptr || !node->is("Reshape")) return {};
  return Value(&x.builder(), node->inputs[0]);
}

Value rows_of(Value x) {
  const Value source = before_reshape(x);
  const bool rows = source.defined() && source.rank() == 2 && x.rank() > 0 &&
                    source.size(1) == x.size(-1) && x.count() > 0;
  return rows ? source : Value();
}

Value beside_rows(Value x, const Shape& shape, Value rows) {
  if (x.shape() == shape) return reshape(x, rows.shape());
  if (x.rank() > static_cast<std::int64_t>(shape.size())) return {};
  if (x.count() == 1) return reshape(x, {});
  return x.rank() == 1 && x.size(0) == rows.size(1) ? x : Value();
}

Value last_step(Value x, std::int64_t dim, std::int64_t index) {
  const Value source = before_reshape(x);
  if (!source.defined()) return {};
  const BuiltNode* node = x.builder().producer(source);
  const bool recurrent =
      node != nullptr && (node->is("GRU") || node->is("LSTM") || node->is("RNN"));
  if (!recurrent || node->outputs[0] != source.id() || source.size(1) != 1) return {};
  // [time, 1, batch, size]: time is the first dimension here too.
  const auto& shape = x.shape();
  const bool leading =
      std::all_of(shape.begin(), shape.begin() + dim, [](std::int64_t size) { return size == 1; });
  if (!leading || x.size(dim) != source.size(0) || index != x.size(dim) - 1) return {};
  Shape rest = shape;
  rest.erase(rest.begin() + dim);
  return reshape(Value(&x.builder(), node->outputs[1]), std::move(rest));
}

}  // namespace leapp::onnx_export
