#include "runtime_manager.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/port_suffix.h"
#include "leapp/inference_manager.h"
#include "runtime_arrays.h"
#include "runtime_engine.h"
#include "runtime_hold.h"
#include "runtime_node.h"
#include "runtime_options.h"
#include "runtime_sections.h"
#include "setting.h"

namespace leapp::python {
namespace {

// The elements of a port that lie at another address.
Elements elements_at(void* data, const TensorView& view) {
  return {view.dtype, std::span(static_cast<std::byte*>(data), view.byte_size())};
}

class PyManager {
 public:
  PyManager(py::handle yaml, const py::dict& settings, py::object torch, const py::dict& engines)
      : arrays_(std::move(torch)), options_(runtime_options(settings)) {
    for (const auto& [backend, load] : engines) {
      options_.engines.add(py::str(backend),
                           python_engine(py::reinterpret_borrow<py::object>(load)));
    }
    import_torch_for_torchscript(options_.engines);
    const auto file =
        setting<std::filesystem::path>("model_path", yaml, "the path of a .yaml file");
    {
      const py::gil_scoped_release release;
      manager_ = std::make_unique<InferenceManager>(file, options_);
    }
    for (const std::string& name : manager_->inputs()) {
      inputs_.push_back(manager_->input_port(name));
      input_index_.emplace(name, inputs_.size() - 1);
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

  ~PyManager() {
    const py::gil_scoped_release release;  // as in trace_to()
    manager_.reset();
  }
  PyManager(const PyManager&) = delete;
  PyManager& operator=(const PyManager&) = delete;

  py::dict run(const py::object& given) {
    const Hold hold(busy_);
    manager_->clear_inputs().value();
    for (const auto& [key, value] : inputs_from(given)) {
      const std::string_view name = text_of(key);
      const std::size_t index = input_index(name);
      if (bound_inputs_[index]) {
        throw Error(Code::kBoundPort, "input " + manager_->inputs()[index] +
                                          " is bound to your array: write to that array instead");
      }
      set_input(index, value);
    }
    run_nodes();
    return outputs();
  }

  void tick() {
    const Hold hold(busy_);
    run_nodes();
  }

  py::dict outputs() const {
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

  void bind_input(py::handle name, py::object array) {
    const Hold hold(busy_);
    const std::size_t index = input_index(text_of(name));
    const InputPort port = inputs_[index];
    if (array.is_none()) {
      manager_->unbind_input(port);
    } else {
      const TensorView& view = manager_->input(port);
      void* data = borrow_array(array, device_, view, manager_->inputs()[index], false);
      manager_->bind_input(port, TensorView{data, view.dtype, view.shape});
    }
    bound_inputs_[index] = array.is_none() ? py::object() : std::move(array);
  }

  void bind_output(py::handle name, py::object array) {
    const Hold hold(busy_);
    const OutputPort port = manager_->output_port(text_of(name));
    if (array.is_none()) {
      manager_->unbind_output(port);
    } else {
      const TensorView& view = manager_->output(port);
      void* data = borrow_array(array, device_, view, manager_->outputs()[port.index()], true);
      manager_->bind_output(port, elements_at(data, view));
    }
    bound_outputs_[port.index()] = array.is_none() ? py::object() : std::move(array);
  }

  py::dict mock_input(py::handle seed) const {
    const auto number = setting<std::uint32_t>("seed", seed, "a whole number");
    return to_dict(manager_->get_mock_input(number), manager_->inputs());
  }

  void set_input_value(py::handle node_name, py::handle input_name, py::handle value) {
    const Hold hold(busy_);
    const auto node = setting<std::string>("node_name", node_name, "the name of a node");
    const auto input = setting<std::string>("input_name", input_name, "the name of an input");
    Tensor copy = like_input(node, input);
    read_array(value, copy.view(), node + "/" + input);
    manager_->set_input_value(node, input, copy.view());
  }

  py::object value(const std::string& node, const std::string& port) const {
    return arrays_.make(manager_->value(node, port).view());
  }

  py::dict state() const {
    const TensorMap state = manager_->state();
    py::dict dict = to_dict(state, manager_->feedback_inputs());
    for (const auto& [name, value] : state) {
      if (!dict.contains(name)) dict[py::str(name)] = arrays_.make(value.view());
    }
    return dict;
  }

  void set_state(const py::object& given) {
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

  std::optional<std::uint64_t> output_age(py::handle name) const {
    const Hold hold(busy_);
    return manager_->output_age(manager_->output_port(text_of(name)));
  }

  void prepare(py::handle ticks) {
    const int count = setting<int>("ticks", ticks, "a whole number");
    const py::gil_scoped_release release;
    manager_->prepare(count);
  }

  void trace_to(py::handle file) {
    const auto path = setting_or<std::filesystem::path>({}, "file", file, "a path");
    const py::gil_scoped_release release;  // it joins a thread that may have something to log
    manager_->trace_to(path);
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

  // The sections of the YAML, made once: callers may keep them.
  py::object models;
  py::object pipeline;
  py::object system_info;

 private:
  py::dict inputs_from(const py::object& given) const {
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

  void run_nodes() {
    Result<void> result;
    {
      const py::gil_scoped_release release;
      result = manager_->tick();
    }
    result.value();
  }

  void set_input(std::size_t index, py::handle value) {
    const InputPort port = inputs_[index];
    const TensorView& buffer = manager_->input(port);
    const std::string& name = manager_->inputs()[index];
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
    const Port* port = find_as_annotated(input, kInputSuffix, [&](const std::string& name) {
      return manager_->bundle().find_input({node, name});
    });
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

  mutable std::atomic<bool> busy_{false};
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

constexpr const char* kRunPolicyDoc = R"(Run every node once.

Args:
    inputs: A value for each of ``inputs``, by ``node/port``, except those that ``set_input_value``
        has set.

Returns:
    A new array for each of ``outputs``; it is the caller's to keep.)";

constexpr const char* kBindInputDoc =
    R"(Read an input from this array in every tick, without copying; None ends it.

The array must be contiguous, in host memory, of the port's type and shape.)";

constexpr const char* kStatisticsDoc =
    R"(Return latencies in seconds: ``tick``, ``nodes`` by name, and ``deadline_misses``.

All zero unless the manager was made with ``measure=True``.)";

constexpr const char* kTraceToDoc =
    "Write a timeline of the ticks from now on, for ui.perfetto.dev; None ends it.";

// What goes in, stays and comes out.
void bind_values(py::class_<PyManager>& manager) {
  manager.def("get_mock_input", &PyManager::mock_input, py::arg("seed") = 0,
              "Return made-up values for ``inputs``: random numbers, ones for integers.");
  manager.def(
      "set_input_value", &PyManager::set_input_value, py::arg("node_name"), py::arg("input_name"),
      py::arg("value"),
      "Set an input: a feedback input for the next tick, an external one until it is given.");
  manager.def(
      "reset", [](PyManager& self) { self.manager().reset(); },
      "Give every feedback input its initial value again; other inputs are zero until set.");
  manager.def("state", &PyManager::state,
              "Return a copy of every feedback input and, with a schedule, of the position in it.");
  manager.def(
      "undo_tick", [](PyManager& self) { self.manager().undo_tick().value(); },
      "Take back the last tick: the next one reads the state that it read. Outputs stay.");
  manager.def("output_age", &PyManager::output_age, py::arg("name"),
              "Return how many ticks ago the node of an output ran: 0 for the last tick, None for "
              "never.");
  manager.def("set_state", &PyManager::set_state, py::arg("state"),
              "Go back to what ``state()`` returned.");
  manager.def(
      "prepare", &PyManager::prepare, py::arg("ticks") = 2,
      "Run on mock input, so that the engines have allocated what they need; then undo it.");
  manager.def("bind_input", &PyManager::bind_input, py::arg("name"), py::arg("array"),
              kBindInputDoc);
  manager.def("bind_output", &PyManager::bind_output, py::arg("name"), py::arg("array"),
              "Write an output into this array in every tick; None ends it.");
  manager.def(
      "tick", &PyManager::tick,
      "Run every node once on the inputs as they are, for callers that bound their arrays.");
  manager.def("_value", &PyManager::value, py::arg("node"), py::arg("port"));
  manager.def("_load_node", &PyManager::load_node, py::arg("name"));
  manager.def("_zeros", &PyManager::zeros, py::arg("dtype"), py::arg("shape"));
}

// What there is.
void bind_sections(py::class_<PyManager>& manager) {
  manager.def_property_readonly(
      "inputs", [](PyManager& self) { return self.manager().inputs(); },
      "What a caller has to supply, by ``node/port``.");
  manager.def_property_readonly(
      "outputs", [](PyManager& self) { return self.manager().outputs(); },
      "What a caller gets back.");
  manager.def_property_readonly(
      "feedback_inputs", [](PyManager& self) { return self.manager().feedback_inputs(); },
      "What comes from the last tick.");
  manager.def_property_readonly(
      "device", [](PyManager& self) { return self.manager().device(); },
      "Where the values are: ``\"cpu\"``, or ``\"cuda:0\"`` when every node runs there.");
  manager.def_readonly("models", &PyManager::models, "That section of the YAML.");
  manager.def_readonly("pipeline", &PyManager::pipeline, "That section of the YAML.");
  manager.def_readonly("system_info", &PyManager::system_info, "That section of the YAML.");
  manager.def(
      "description", [](PyManager& self) { return self.manager().description(); },
      "Say what runs where, one line per step.");
  manager.def("statistics", &PyManager::statistics, kStatisticsDoc);
  manager.def("_verify", [](PyManager& self) { return verify(self.manager()); });
  manager.def(
      "reset_statistics", [](PyManager& self) { self.manager().reset_statistics(); },
      "Forget the latencies measured so far.");
  manager.def("trace_to", &PyManager::trace_to, py::arg("file"), kTraceToDoc);
}

}  // namespace

void bind_manager(py::module_& module) {
  py::class_<PyNode>(module, "NodeModel").def("__call__", &PyNode::run);
  py::class_<PyManager> manager(module, "Manager", "What InferenceManager is made of.");
  manager.def(py::init<py::handle, const py::dict&, py::object, const py::dict&>(), py::arg("yaml"),
              py::arg("settings"), py::arg("torch"), py::arg("engines"));
  for (const char* name : {"run_policy", "__call__"}) {
    manager.def(name, &PyManager::run, py::arg("inputs"), kRunPolicyDoc);
  }
  bind_values(manager);
  bind_sections(manager);
}

}  // namespace leapp::python
