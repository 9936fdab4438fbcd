#include "rehearse/model_run.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/sub.h>

#include <sstream>

namespace leapp::rehearse {

std::vector<ConstTensorView> views_of(const Tensors& tensors) {
  std::vector<ConstTensorView> views;
  for (const at::Tensor& tensor : tensors) views.push_back(interop::view_of(tensor));
  return views;
}

bool agree(const at::Tensor& a, const at::Tensor& b, const Tolerance& tolerance) {
  return compare(interop::view_of(a), interop::view_of(b), tolerance).passed();
}

Tensors run_model(Engine& engine, const Model& model, const Tensors& inputs) {
  Tensors outputs;
  std::vector<TensorView> written;
  for (const Port& port : model.outputs) {
    outputs.push_back(at::empty(port.shape, interop::to_scalar_type(port.dtype)));
    written.push_back({outputs.back().data_ptr(), port.dtype, port.shape});
  }
  engine.bind(views_of(inputs), written)->run().value();
  return outputs;
}

std::string largest_difference(const at::Tensor& a, const at::Tensor& b) {
  std::ostringstream text;
  const at::ScalarType type = at::isComplexType(a.scalar_type()) ? at::kComplexDouble : at::kDouble;
  text << at::sub(a.to(type), b.to(type)).abs().max().item().toDouble();
  return text.str();
}

}  // namespace leapp::rehearse
