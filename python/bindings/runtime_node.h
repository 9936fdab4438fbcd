// One node of a bundle by itself, for Python: arrays in and out by position.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "leapp/inference_manager.h"
#include "runtime_arrays.h"

namespace leapp::python {

/// A node's model, loaded a second time, so running it does not change the manager. One thread at a
/// time.
class PyNode {
 public:
  /// Throws Error if the node has no model, or if the model cannot be loaded.
  PyNode(const Bundle& bundle, const Model& model, const RuntimeOptions& options,
         ArrayMaker arrays);

  /// Runs the node with one array per input, in order. Returns a new array for each output.
  py::list run(const py::args& inputs);

 private:
  Model model_;
  ArrayMaker arrays_;
  std::unique_ptr<Engine> engine_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::unique_ptr<Binding> binding_;
};

}  // namespace leapp::python
