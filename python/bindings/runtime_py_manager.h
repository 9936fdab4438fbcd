// A bundle that runs for Python: dicts of arrays in and out.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "leapp/inference_manager.h"
#include "runtime_arrays.h"
#include "runtime_node.h"

namespace leapp::python {

/// An InferenceManager with values as Python arrays. Every call needs the GIL; it is released while
/// nodes run and files are read. A second thread that calls during a tick gets an Error (LP609).
class PyManager {
 public:
  /// Loads the bundle. `engines` has a Python function per backend. Throws Error.
  PyManager(py::handle yaml, const py::dict& settings, py::object torch, const py::dict& engines);
  ~PyManager();
  PyManager(const PyManager&) = delete;
  PyManager& operator=(const PyManager&) = delete;

  /// Sets each external input, runs a tick and returns outputs().
  py::dict run(const py::object& given);
  void tick();
  /// Returns a new array for each output.
  py::dict outputs() const;

  /// Binds a port to a Python array, which is kept alive, or unbinds it for None.
  void bind_input(py::handle name, py::object array);
  void bind_output(py::handle name, py::object array);

  py::dict mock_input(py::handle seed) const;
  void set_input_value(py::handle node_name, py::handle input_name, py::handle value);
  py::object value(const std::string& node, const std::string& port) const;
  py::dict state() const;
  void set_state(const py::object& given);
  std::optional<std::uint64_t> output_age(py::handle name) const;
  void prepare(py::handle ticks);
  void trace_to(py::handle file);
  py::dict statistics() const;
  std::unique_ptr<PyNode> load_node(const std::string& name) const;
  py::object zeros(const std::string& dtype, const Shape& shape) const;

  InferenceManager& manager() { return *manager_; }

  // The sections of the YAML, created once, because callers may keep them.
  py::object models;
  py::object pipeline;
  py::object system_info;

 private:
  py::dict inputs_from(const py::object& given) const;
  void run_nodes();
  void set_input(std::size_t index, py::handle value);
  std::size_t input_index(std::string_view name);
  // Returns zeros with the type and shape of an input. set_input_value() refuses inputs that cannot
  // be set.
  Tensor like_input(const std::string& node, const std::string& input) const;
  // Returns the tensors as arrays, in the order of the names.
  py::dict make_arrays(const TensorMap& tensors, const std::vector<std::string>& names) const;

  mutable std::atomic<bool> busy_{false};
  ArrayMaker arrays_;
  RuntimeOptions options_;
  std::unique_ptr<InferenceManager> manager_;
  std::optional<dlpack::Device> device_;  // the device of the values; none: the host
  std::vector<InputPort> inputs_;         // noise ports are last
  std::vector<std::string> input_names_;
  std::vector<std::pair<py::str, OutputPort>> outputs_;
  std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> input_index_;
  std::vector<py::object> bound_inputs_;  // keeps bound memory alive
  std::vector<py::object> bound_outputs_;
};

}  // namespace leapp::python
