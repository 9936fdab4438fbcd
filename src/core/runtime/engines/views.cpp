#include <string>

#include "base/check.h"
#include "leapp/engine.h"

namespace leapp {
namespace {

// Const and mutable views differ only in their pointer.
template <typename View>
void check_side(const Model& model, const std::vector<Port>& ports, std::span<const View> views,
                const char* side) {
  if (views.size() != ports.size()) {
    throw Error(Code::kBadBinding, "node '" + model.name + "' has " + std::to_string(ports.size()) +
                                       " " + side + "s, but " + std::to_string(views.size()) +
                                       " buffers were given");
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    const View& view = views[i];
    if (view.dtype != port.dtype || view.shape != port.shape) {
      throw Error(Code::kBadBinding, std::string(side) + " " + model.name + "/" + port.name +
                                         " is " + std::string(name_of(port.dtype)) + " " +
                                         to_string(port.shape) + ", but the buffer given is " +
                                         std::string(name_of(view.dtype)) + " " +
                                         to_string(view.shape));
    }
    if (view.data == nullptr && view.byte_size() != 0) {
      throw Error(Code::kBadBinding, std::string("the buffer given for ") + side + " " +
                                         model.name + "/" + port.name + " is null");
    }
  }
}

}  // namespace

void check_views(const Model& model, std::span<const ConstTensorView> inputs,
                 std::span<const TensorView> outputs) {
  check_side(model, model.inputs, inputs, "input");
  check_side(model, model.outputs, outputs, "output");
}

std::unique_ptr<Binding> Engine::bind_device(std::span<const ConstTensorView>,
                                             std::span<const TensorView>) {
  throw Error(Code::kInternal, "this engine needs host memory");
}

}  // namespace leapp
