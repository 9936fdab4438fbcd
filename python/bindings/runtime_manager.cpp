#include "runtime_manager.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "leapp/inference_manager.h"
#include "runtime_arrays.h"
#include "runtime_engine.h"
#include "runtime_node.h"
#include "runtime_sections.h"

namespace leapp::python {
namespace {

// Hash tables that are asked with a string_view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>()(text);
  }
};

std::string_view text_of(py::handle key) {
  py::ssize_t size = 0;
  const char* text =
      PyUnicode_Check(key.ptr()) != 0 ? PyUnicode_AsUTF8AndSize(key.ptr(), &size) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    throw Error(Code::kWrongType,
                "inputs are named by text, 'node/port', not by " + std::string(py::repr(key)));
  }
  return {text, static_cast<std::size_t>(size)};
}

// The value of a setting, or an error that names it.
template <typename T>
T setting(const std::string& name, py::handle value, const char* expected) {
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    throw Error(Code::kWrongType, name + " must be " + expected + ", not " +
                                      std::string(py::str(py::type::of(value).attr("__name__"))));
  }
}

EngineOptions engine_options(const py::dict& settings) {
  EngineOptions options;
  for (const auto& [key, value] : settings) {
    const std::string name = py::str(key);
    if (name == "threads") {
      options.threads = setting<int>(name, value, "a whole number");
    } else if (name == "affinity") {
      options.affinity = setting<std::vector<int>>(name, value, "a list of processors");
    } else if (name == "spinning") {
      options.spinning = setting<bool>(name, value, "True or False");
    } else if (name == "provider") {
      options.provider = setting<std::string>(name, value, "the name of a provider");
    } else if (name == "translate") {
      options.translate = setting<bool>(name, value, "True or False");
    } else {
      throw Error(Code::kRuntimeOptions,
                  "there is no engine option '" + name +
                      "'; there are: threads, affinity, spinning, provider, translate");
    }
  }
  return options;
}

std::chrono::nanoseconds from_seconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// A Python function, to be called from a thread that does not hold the interpreter lock.
std::function<void(const DeadlineMiss&)> deadline_callback(py::object callable) {
  if (callable.is_none()) return {};
  const auto shared = std::shared_ptr<py::object>(new py::object(std::move(callable)), [](auto* o) {
    const py::gil_scoped_acquire lock;
    delete o;
  });
  return [shared](const DeadlineMiss& miss) {
    const py::gil_scoped_acquire lock;
    try {
      (*shared)(miss.tick, to_seconds(miss.took), to_seconds(miss.deadline));
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("LEAPP's deadline callback");
    }
  };
}

class PyManager {
 public:
  PyManager(const std::filesystem::path& yaml, const py::dict& settings, py::object torch,
            const py::dict& engines)
      : arrays_(std::move(torch)), options_(runtime_options(settings)) {
    for (const auto& [backend, load] : engines) {
      options_.engines.add(py::str(backend),
                           python_engine(py::reinterpret_borrow<py::object>(load)));
    }
    import_torch_for_torchscript(options_.engines);
    {
      const py::gil_scoped_release release;
      manager_ = std::make_unique<InferenceManager>(yaml, options_);
    }
    for (const std::string& name : manager_->inputs()) {
      inputs_.push_back(manager_->input_port(name));
      input_index_.emplace(name, inputs_.size() - 1);
    }
    for (const std::string& name : manager_->outputs()) {
      outputs_.emplace_back(py::str(name), manager_->output_port(name));
    }
    device_ = parse_device(manager_->device());
    bound_inputs_.resize(inputs_.size());
    bound_outputs_.resize(outputs_.size());
  }

  py::dict run(const py::dict& inputs) {
    manager_->clear_inputs();
    for (const auto& [key, value] : inputs) {
      const std::string_view name = text_of(key);
      const std::size_t index = input_index(name);
      if (bound_inputs_[index]) {
        throw Error(Code::kBoundPort, "input " + manager_->inputs()[index] +
                                          " is bound to an array of yours: write that array");
      }
      set_input(index, value);
    }
    tick();
    return outputs();
  }

  void tick() {
    Result<void> result;
    {
      const py::gil_scoped_release release;
      result = manager_->tick();
    }
    result.value();
  }

  py::dict outputs() const {
    py::dict outputs;
    for (const auto& [name, port] : outputs_) {
      const TensorView& view = manager_->output(port);
      if (!device_) {
        outputs[name] = arrays_.make(view);
      } else if (arrays_.is_torch()) {
        outputs[name] = arrays_.make_on(
            *device_, view, [&](void* to) { manager_->get_device_output(port, to).value(); });
      } else {
        Tensor host(view.dtype, view.shape);
        manager_->get_output(port, host.data()).value();
        outputs[name] = arrays_.make(host.view());
      }
    }
    return outputs;
  }

  void bind_input(std::string_view name, py::object array) {
    const std::size_t index = input_index(name);
    void* data = array.is_none() ? nullptr
                                 : borrow_array(array, device_, manager_->input(inputs_[index]),
                                                manager_->inputs()[index], false);
    manager_->bind_input(inputs_[index], data);
    bound_inputs_[index] = array.is_none() ? py::object() : std::move(array);
  }

  void bind_output(std::string_view name, py::object array) {
    const OutputPort port = manager_->output_port(name);
    void* data = array.is_none() ? nullptr
                                 : borrow_array(array, device_, manager_->output(port),
                                                manager_->outputs()[port.index()], true);
    manager_->bind_output(port, data);
    bound_outputs_[port.index()] = array.is_none() ? py::object() : std::move(array);
  }

  py::dict mock_input(std::uint32_t seed) const {
    return to_dict(manager_->get_mock_input(seed), manager_->inputs());
  }

  void set_input_value(const std::string& node, const std::string& input, py::handle value) {
    Tensor copy = like_input(node, input);
    read_array(value, copy.view(), node + "/" + input);
    manager_->set_input_value(node, input, copy.view());
  }

  py::object value(const std::string& node, const std::string& port) const {
    return arrays_.make(manager_->value(node, port).view());
  }

  py::dict state() const { return to_dict(manager_->state(), manager_->feedback_inputs()); }

  void set_state(const py::dict& state) {
    TensorMap tensors;
    for (const auto& [key, value] : state) {
      const std::string name(text_of(key));
      const std::optional<PortRef> ref = parse_port_ref(name);
      const Port* port = ref ? manager_->bundle().find_input(*ref) : nullptr;
      if (port == nullptr) throw Error(Code::kUnknownPort, "'" + name + "' is no feedback input");
      Tensor tensor(port->dtype, port->shape);
      read_array(value, tensor.view(), name);
      tensors.emplace(name, std::move(tensor));
    }
    manager_->set_state(tensors);
  }

  void prepare(int ticks) {
    const py::gil_scoped_release release;
    manager_->prepare(ticks);
  }

  py::dict statistics() const {
    const Statistics statistics = manager_->statistics();
    py::dict nodes;
    for (const auto& [name, summary] : statistics.nodes) nodes[py::str(name)] = to_dict(summary);
    py::dict result;
    result["tick"] = to_dict(statistics.tick);
    result["nodes"] = nodes;
    result["deadline_misses"] = statistics.deadline_misses;
    return result;
  }

  std::unique_ptr<PyNode> load_node(const std::string& name) const {
    const Bundle& bundle = manager_->bundle();
    return std::make_unique<PyNode>(bundle, *bundle.find_model(name), options_, arrays_);
  }

  py::object zeros(const std::string& dtype, const Shape& shape) const {
    return arrays_.make(Tensor(dtype_from_name(dtype).value(), shape).view());
  }

  InferenceManager& manager() { return *manager_; }

 private:
  static RuntimeOptions runtime_options(const py::dict& settings) {
    RuntimeOptions options;
    options.engine = engine_options(settings["engine"]);
    for (const auto& [node, values] : py::dict(settings["nodes"])) {
      options.nodes[py::str(node)] = engine_options(py::reinterpret_borrow<py::dict>(values));
    }
    options.merge =
        setting<bool>("merge", settings["merge"], "True or False") ? Merge::kAuto : Merge::kOff;
    const auto finite = settings["finite"].cast<std::tuple<bool, bool, bool>>();
    options.finite = {std::get<0>(finite), std::get<1>(finite), std::get<2>(finite)};
    for (const auto& [port, limit] : py::dict(settings["staleness"])) {
      options.staleness[py::str(port)] =
          from_seconds(setting<double>("staleness", limit, "a number of seconds"));
    }
    if (!settings["deadline"].is_none()) {
      options.deadline =
          from_seconds(setting<double>("deadline", settings["deadline"], "a number of seconds"));
    }
    options.on_deadline_miss = deadline_callback(settings["on_deadline_miss"]);
    options.measure = setting<bool>("measure", settings["measure"], "True or False");
    options.bundle.allow_outside_files =
        setting<bool>("allow_outside_files", settings["allow_outside_files"], "True or False");
    options.bundle.max_tensor_bytes = setting<std::uint64_t>(
        "max_tensor_bytes", settings["max_tensor_bytes"], "a number of bytes");
    return options;
  }

  void set_input(std::size_t index, py::handle value) {
    const InputPort port = inputs_[index];
    const TensorView& buffer = manager_->input(port);
    const std::string& name = manager_->inputs()[index];
    if (!device_) {
      read_array(value, buffer, name);
      manager_->touch(port);
    } else if (const void* there = find_on_device(value, *device_, buffer, name)) {
      manager_->set_device_input(port, there);
    } else {
      Tensor host(buffer.dtype, buffer.shape);
      read_array(value, host.view(), name);
      manager_->set_input(port, host.data());
    }
  }

  std::size_t input_index(std::string_view name) {
    if (const auto found = input_index_.find(name); found != input_index_.end()) {
      return found->second;
    }
    // The name as annotated, or an error that says what there is.
    const std::size_t index = manager_->input_port(name).index();
    input_index_.emplace(name, index);
    return index;
  }

  // Zeros of an input's type and shape; what cannot be set is refused by set_input_value().
  Tensor like_input(const std::string& node, const std::string& input) const {
    const Bundle& bundle = manager_->bundle();
    const Port* port = bundle.find_input({node, input});
    if (port == nullptr) port = bundle.find_input({node, input + "_in"});
    if (port == nullptr) {
      manager_->value(node, input);  // throws: no such node, or no such port
      throw Error(Code::kUnknownPort, "node '" + node + "' has no input '" + input + "'");
    }
    return Tensor(port->dtype, port->shape);
  }

  // In the order of the names.
  py::dict to_dict(const TensorMap& tensors, const std::vector<std::string>& names) const {
    py::dict dict;
    for (const std::string& name : names) {
      dict[py::str(name)] = arrays_.make(tensors.at(name).view());
    }
    return dict;
  }

  static py::dict to_dict(const LatencySummary& summary) {
    py::dict dict;
    dict["count"] = summary.count;
    dict["mean"] = to_seconds(summary.mean);
    dict["p50"] = to_seconds(summary.p50);
    dict["p99"] = to_seconds(summary.p99);
    dict["p99.9"] = to_seconds(summary.p999);
    dict["max"] = to_seconds(summary.max);
    return dict;
  }

  ArrayMaker arrays_;
  RuntimeOptions options_;
  std::unique_ptr<InferenceManager> manager_;
  std::optional<dlpack::Device> device_;  // where the values are, when not on the host
  std::vector<InputPort> inputs_;
  std::vector<std::pair<py::str, OutputPort>> outputs_;
  std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> input_index_;
  std::vector<py::object> bound_inputs_;  // keeps the caller's arrays alive
  std::vector<py::object> bound_outputs_;
};

}  // namespace

void bind_manager(py::module_& module) {
  py::class_<PyNode>(module, "NodeModel").def("__call__", &PyNode::run);
  py::class_<PyManager>(module, "Manager")
      .def(py::init<const std::filesystem::path&, const py::dict&, py::object, const py::dict&>(),
           py::arg("yaml"), py::arg("settings"), py::arg("torch"), py::arg("engines"))
      .def("run", &PyManager::run, py::arg("inputs"))
      .def("tick", &PyManager::tick)
      .def("outputs_now", &PyManager::outputs)
      .def("bind_input", &PyManager::bind_input, py::arg("name"), py::arg("array"))
      .def("bind_output", &PyManager::bind_output, py::arg("name"), py::arg("array"))
      .def("mock_input", &PyManager::mock_input, py::arg("seed"))
      .def("set_input_value", &PyManager::set_input_value, py::arg("node"), py::arg("input"),
           py::arg("value"))
      .def("value", &PyManager::value, py::arg("node"), py::arg("port"))
      .def("reset", [](PyManager& self) { self.manager().reset(); })
      .def("state", &PyManager::state)
      .def("set_state", &PyManager::set_state, py::arg("state"))
      .def("prepare", &PyManager::prepare, py::arg("ticks"))
      .def("statistics", &PyManager::statistics)
      .def("load_node", &PyManager::load_node, py::arg("name"))
      .def("zeros", &PyManager::zeros, py::arg("dtype"), py::arg("shape"))
      .def("reset_statistics", [](PyManager& self) { self.manager().reset_statistics(); })
      .def_property_readonly("device", [](PyManager& self) { return self.manager().device(); })
      .def("description", [](PyManager& self) { return self.manager().description(); })
      .def_property_readonly("inputs", [](PyManager& self) { return self.manager().inputs(); })
      .def_property_readonly("outputs", [](PyManager& self) { return self.manager().outputs(); })
      .def_property_readonly("feedback_inputs",
                             [](PyManager& self) { return self.manager().feedback_inputs(); })
      .def_property_readonly(
          "models", [](PyManager& self) { return models_section(self.manager().bundle()); })
      .def_property_readonly(
          "pipeline", [](PyManager& self) { return pipeline_section(self.manager().bundle()); })
      .def_property_readonly(
          "system_info", [](PyManager& self) { return system_section(self.manager().bundle()); });
}

}  // namespace leapp::python
