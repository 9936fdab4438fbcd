#include "runtime_py_manager.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <span>

#include "base/port_suffix.h"
#include "runtime_engine.h"
#include "runtime_hold.h"
#include "runtime_options.h"
#include "runtime_sections.h"
#include "setting.h"

namespace leapp::python {
namespace {

// Returns the elements of a port at another address.
Elements elements_at(void* data, const TensorView& view) {
  return {view.dtype, std::span(static_cast<std::byte*>(data), view.byte_size())};
}

py::dict to_dict(const LatencySummary& summary) {
  py::dict dict;
  dict["count"] = summary.count;
  dict["mean"] = to_seconds(summary.mean);
  dict["p50"] = to_seconds(summary.p50);
  dict["p99"] = to_seconds(summary.p99);
  dict["p99.9"] = to_seconds(summary.p999);
  dict["max"] = to_seconds(summary.max);
  return dict;
}

}  // namespace

PyManager::PyManager(py::handle yaml, const py::dict& settings, py::object torch,
                     const py::dict& engines)
    : arrays_(std::move(torch)), options_(runtime_options(settings)) {
  for (const auto& [backend, load] : engines) {
    options_.engines.add(py::str(backend), python_engine(py::reinterpret_borrow<py::object>(load)));
  }
  import_torch_for_torchscript(options_.engines);
  const auto file = setting<std::filesystem::path>("model_path", yaml, "the path of a .yaml file");
  {
    const py::gil_scoped_release release;
    manager_ = std::make_unique<InferenceManager>(file, options_);
  }
  for (const auto* names : {&manager_->inputs(), &manager_->noise_inputs()}) {
    for (const std::string& name : *names) {
      inputs_.push_back(manager_->input_port(name));
      input_names_.push_back(name);
      input_index_.emplace(name, inputs_.size() - 1);
    }
  }
  for (const std::string& name : manager_->outputs()) {
    outputs_.emplace_back(py::str(name), manager_->output_port(name));
  }
  const Bundle& bundle = manager_->bundle();
  models = models_section(bundle);
  pipeline = pipeline_section(bundle);
  system_info = system_section(bundle);
  device_ = parse_device(manager_->device());
  bound_inputs_.resize(inputs_.size());
  bound_outputs_.resize(outputs_.size());
}

PyManager::~PyManager() {
  const py::gil_scoped_release release;  // as in trace_to()
  manager_.reset();
}

py::dict PyManager::run(const py::object& given) {
  const Hold hold(busy_);
  manager_->clear_inputs().value();
  for (const auto& [key, value] : inputs_from(given)) {
    const std::string_view name = text_of(key);
    const std::size_t index = input_index(name);
    if (bound_inputs_[index]) {
      throw Error(Code::kBoundPort, "input " + input_names_[index] +
                                        " is bound to your array: write to that array instead");
    }
    set_input(index, value);
  }
  run_nodes();
  return outputs();
}

void PyManager::tick() {
  const Hold hold(busy_);
  run_nodes();
}

py::dict PyManager::outputs() const {
  py::dict outputs;
  for (const auto& [name, port] : outputs_) {
    const TensorView& view = manager_->output(port);
    if (!device_) {
      outputs[name] = arrays_.make(view);
    } else if (arrays_.is_torch()) {
      outputs[name] = arrays_.make_on(*device_, view, [&](void* to) {
        manager_->get_device_output(port, elements_at(to, view)).value();
      });
    } else {
      Tensor host(view.dtype, view.shape);
      manager_->get_output(port, host).value();
      outputs[name] = arrays_.make(host.view());
    }
  }
  return outputs;
}

void PyManager::bind_input(py::handle name, py::object array) {
  const Hold hold(busy_);
  const std::size_t index = input_index(text_of(name));
  const InputPort port = inputs_[index];
  BorrowedMemory memory;
  if (array.is_none()) {
    manager_->unbind_input(port);
  } else {
    const TensorView& view = manager_->input(port);
    memory = borrow_array(array, device_, view, input_names_[index], false);
    manager_->bind_input(port, TensorView{memory.data, view.dtype, view.shape});
  }
  bound_inputs_[index] = std::move(memory.owner);
}

void PyManager::bind_output(py::handle name, py::object array) {
  const Hold hold(busy_);
  const OutputPort port = manager_->output_port(text_of(name));
  BorrowedMemory memory;
  if (array.is_none()) {
    manager_->unbind_output(port);
  } else {
    const TensorView& view = manager_->output(port);
    memory = borrow_array(array, device_, view, manager_->outputs()[port.index()], true);
    manager_->bind_output(port, elements_at(memory.data, view));
  }
  bound_outputs_[port.index()] = std::move(memory.owner);
}

py::dict PyManager::mock_input(py::handle seed) const {
  const auto number = setting<std::uint32_t>("seed", seed, "a whole number");
  return make_arrays(manager_->get_mock_input(number), manager_->inputs());
}

void PyManager::set_input_value(py::handle node_name, py::handle input_name, py::handle value) {
  const Hold hold(busy_);
  const auto node = setting<std::string>("node_name", node_name, "the name of a node");
  const auto input = setting<std::string>("input_name", input_name, "the name of an input");
  Tensor copy = like_input(node, input);
  read_array(value, copy.view(), node + "/" + input);
  manager_->set_input_value(node, input, copy.view());
}

py::object PyManager::value(const std::string& node, const std::string& port) const {
  return arrays_.make(manager_->value(node, port).view());
}

py::dict PyManager::state() const {
  const TensorMap state = manager_->state();
  py::dict dict = make_arrays(state, manager_->feedback_inputs());
  for (const auto& [name, value] : state) {
    if (!dict.contains(name)) dict[py::str(name)] = arrays_.make(value.view());
  }
  return dict;
}

void PyManager::set_state(const py::object& given) {
  if (!py::isinstance(given, py::module_::import("collections.abc").attr("Mapping"))) {
    wrong_setting("state", given, "what state() returned");
  }
  const TensorMap present = manager_->state();
  TensorMap tensors;
  for (const auto& [key, value] : py::dict(given)) {
    const std::string name(text_of(key));
    const auto found = present.find(name);
    if (found == present.end()) {
      throw Error(Code::kUnknownPort, "'" + name + "' is not a feedback input");
    }
    Tensor tensor(found->second.dtype(), found->second.shape());
    read_array(value, tensor.view(), name);
    tensors.emplace(name, std::move(tensor));
  }
  manager_->set_state(tensors);
}

std::optional<std::uint64_t> PyManager::output_age(py::handle name) const {
  const Hold hold(busy_);
  return manager_->output_age(manager_->output_port(text_of(name)));
}

void PyManager::prepare(py::handle ticks) {
  const int count = setting<int>("ticks", ticks, "a whole number");
  const py::gil_scoped_release release;
  manager_->prepare(count);
}

void PyManager::trace_to(py::handle file) {
  const auto path = setting_or<std::filesystem::path>({}, "file", file, "a path");
  const py::gil_scoped_release release;  // it joins a thread that may log in Python
  manager_->trace_to(path);
}

py::dict PyManager::statistics() const {
  const Statistics statistics = manager_->statistics();
  py::dict nodes;
  for (const auto& [name, summary] : statistics.nodes) nodes[py::str(name)] = to_dict(summary);
  py::dict result;
  result["tick"] = to_dict(statistics.tick);
  result["nodes"] = nodes;
  result["deadline_misses"] = statistics.deadline_misses;
  return result;
}

std::unique_ptr<PyNode> PyManager::load_node(const std::string& name) const {
  const Bundle& bundle = manager_->bundle();
  const Model* model = bundle.find_model(name);
  if (model == nullptr) throw Error(Code::kUnknownPort, "there is no node '" + name + "'");
  return std::make_unique<PyNode>(bundle, *model, options_, arrays_);
}

py::object PyManager::zeros(const std::string& dtype, const Shape& shape) const {
  return arrays_.make(Tensor(dtype_from_name(dtype).value(), shape).view());
}

py::dict PyManager::inputs_from(const py::object& given) const {
  if (PyDict_CheckExact(given.ptr())) return given;
  if (py::isinstance(given, py::module_::import("collections.abc").attr("Mapping"))) {
    return py::dict(given);
  }
  std::string known;
  for (const std::string& name : manager_->inputs()) known += (known.empty() ? "" : ", ") + name;
  throw Error(Code::kWrongType, "run_policy() takes a dict of values by 'node/port', got " +
                                    std::string(py::str(py::type::of(given).attr("__name__"))) +
                                    "; this pipeline takes: " + known);
}

void PyManager::run_nodes() {
  Result<void> result;
  {
    const py::gil_scoped_release release;
    result = manager_->tick();
  }
  result.value();
}

void PyManager::set_input(std::size_t index, py::handle value) {
  const InputPort port = inputs_[index];
  const TensorView& buffer = manager_->input(port);
  const std::string& name = input_names_[index];
  if (!device_) {
    read_array(value, buffer, name);
    manager_->touch(port).value();
  } else if (const void* there = find_on_device(value, *device_, buffer, name)) {
    manager_->set_device_input(port, ConstTensorView(there, buffer.dtype, buffer.shape)).value();
  } else {
    Tensor host(buffer.dtype, buffer.shape);
    read_array(value, host.view(), name);
    manager_->set_input(port, host).value();
  }
}

std::size_t PyManager::input_index(std::string_view name) {
  if (const auto found = input_index_.find(name); found != input_index_.end()) {
    return found->second;
  }
  // Returns the name as annotated. Throws an error with the existing names.
  const std::size_t index = manager_->input_port(name).index();
  input_index_.emplace(name, index);
  return index;
}

Tensor PyManager::like_input(const std::string& node, const std::string& input) const {
  const Port* port = find_as_annotated(input, kInputSuffix, [&](const std::string& name) {
    return manager_->bundle().find_input({node, name});
  });
  if (port == nullptr) {
    manager_->value(node, input);  // throws if there is no such node or port
    throw Error(Code::kUnknownPort, "node '" + node + "' has no input '" + input + "'");
  }
  return Tensor(port->dtype, port->shape);
}

py::dict PyManager::make_arrays(const TensorMap& tensors,
                                const std::vector<std::string>& names) const {
  py::dict dict;
  for (const std::string& name : names) {
    dict[py::str(name)] = arrays_.make(tensors.at(name).view());
  }
  return dict;
}

}  // namespace leapp::python
