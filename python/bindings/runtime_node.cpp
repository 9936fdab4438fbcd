#include "runtime_node.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "runtime/loader.h"

namespace leapp::python {

PyNode::PyNode(const Bundle& bundle, const Model& model, const RuntimeOptions& options,
               ArrayMaker arrays)
    : model_(model), arrays_(std::move(arrays)) {
  require(model.file && model.backend, Code::kNoModel,
          "node '" + model.name + "' was exported without a model, so it cannot be run");
  const py::gil_scoped_release release;
  const VerifiedFiles files(bundle, bundle.file.parent_path(), options.bundle);
  engine_ = load_node(bundle, model, files, options);
  std::vector<ConstTensorView> read;
  std::vector<TensorView> written;
  for (const Port& port : model.inputs) {
    inputs_.emplace_back(port.dtype, port.shape);
    read.emplace_back(inputs_.back().view());
  }
  for (const Port& port : model.outputs) {
    outputs_.emplace_back(port.dtype, port.shape);
    written.push_back(outputs_.back().view());
  }
  binding_ = engine_->bind(read, written);
}

py::list PyNode::run(const py::args& inputs) {
  require(inputs.size() == inputs_.size(), Code::kWrongValue,
          "Expected " + std::to_string(inputs_.size()) + " inputs, got " +
              std::to_string(inputs.size()) + ": node '" + model_.name +
              "' takes one for each of its inputs, in order.");
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    read_array(inputs[i], inputs_[i].view(), model_.name + "/" + model_.inputs[i].name);
  }
  Result<void> result;
  {
    const py::gil_scoped_release release;
    result = binding_->run();
  }
  result.value();
  py::list outputs;
  for (const Tensor& output : outputs_) outputs.append(arrays_.make(output.view()));
  return outputs;
}

}  // namespace leapp::python
