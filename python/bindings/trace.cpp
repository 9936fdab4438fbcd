// leapp._trace: the C++ tracing API for Python. The interpreter lock is released around every call:
// recording takes its own locks, and reads Python's frames on the way.
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "error_translation.h"
#include "leapp/leapp.h"
#include "trace/dispatcher.h"
#include "trace_convert.h"
#include "trace_frames.h"
#include "trace_hooks.h"
#include "trace_look.h"
#include "trace_onnx.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

using Tensors = std::vector<at::Tensor>;

/// Calls without the interpreter lock. Python exceptions of callbacks pass through.
template <typename Call>
auto unlocked(const Call& call) {
  const py::gil_scoped_release release;
  return call();
}

void start_session(std::string name, std::string save_path, bool verbose, bool dry_run,
                   std::vector<std::string> non_traced, int max_cached_io) {
  const StartOptions options{.name = std::move(name),
                             .save_path = std::move(save_path),
                             .verbose = verbose,
                             .dry_run = dry_run,
                             .non_traced = std::move(non_traced),
                             .max_cached_io = max_cached_io};
  unlocked([&] { start(options); });
}

using Configs = std::tuple<std::optional<double>, py::dict>;

std::vector<std::tuple<std::string, bool, std::string>> compile_session(
    bool visualize, std::optional<bool> verbose, bool validate, bool dry_run, double rtol,
    double atol, bool strict, const std::optional<Configs>& graph_configs,
    const py::object& progress) {
  CompileOptions options;
  options.visualize = visualize;
  options.verbose = verbose;
  options.validate = validate;
  options.dry_run = dry_run;
  options.rtol = rtol;
  options.atol = atol;
  options.strict = strict;
  const py::module_ torch = py::module_::import("torch");
  options.python_version =
      py::module_::import("platform").attr("python_version")().cast<std::string>();
  options.torch_version = std::string(py::str(torch.attr("__version__")));
  options.cuda_version = torch.attr("version").attr("cuda").cast<std::optional<std::string>>();
  if (graph_configs) {
    const auto& [frequency, extra] = *graph_configs;
    options.graph_configs = GraphConfigs{frequency, to_metadata(extra, "GraphConfigs extra")};
  }
  if (!progress.is_none()) {
    options.progress = [&progress](std::size_t done, std::size_t total, const std::string& node) {
      const py::gil_scoped_acquire acquire;
      progress(done, total, node);
    };
  }
  const std::vector<NodeOutcome> report = unlocked([&] { return compile_graph(options); });
  std::vector<std::tuple<std::string, bool, std::string>> result;
  result.reserve(report.size());
  for (const NodeOutcome& node : report) result.emplace_back(node.node, node.passed, node.error);
  return result;
}

Tensors input(const std::string& node, const py::sequence& entries) {
  const NamedTensors tensors = to_named_tensors(entries);
  return unlocked([&] { return annotate::input_tensors(node, tensors); });
}

Tensors output(const std::string& node, const py::sequence& entries,
               const py::sequence& static_entries, std::optional<std::string> export_with,
               const py::dict& backend_params, bool may_be_state) {
  const NamedTensors tensors = to_named_tensors(entries);
  const OutputOptions options{
      .static_outputs = to_named_tensors(static_entries),
      .export_with = std::move(export_with),
      .backend_params = to_metadata(backend_params, "backend_params of node '" + node + "'"),
      .may_be_state = may_be_state};
  return unlocked([&] { return annotate::output_tensors(node, tensors, options); });
}

// The usual payload, a dict of named tensors, without the detour through Python code that all other
// forms take: annotations sit in loops. NotImplemented means that it is not one.
std::optional<NamedTensors> plain_payload(const py::handle& node, const py::handle& payload) {
  if (!PyUnicode_CheckExact(node.ptr()) || !PyDict_CheckExact(payload.ptr())) return std::nullopt;
  NamedTensors tensors;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(payload.ptr(), &position, &key, &value) != 0;) {
    if (!PyUnicode_CheckExact(key) || !THPVariable_CheckExact(value)) return std::nullopt;
    tensors.push_back({py::handle(key).cast<std::string>(), THPVariable_Unpack(value), {}});
  }
  return tensors.empty() ? std::nullopt : std::optional(std::move(tensors));
}

bool has_arguments(const char* function, Py_ssize_t count, Py_ssize_t expected) {
  if (count == expected) return true;
  PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, got %zd", function, expected, count);
  return false;
}

py::object not_implemented() {
  return py::reinterpret_borrow<py::object>(Py_NotImplemented);
}

py::object input_dict(const py::handle& node, const py::handle& payload) {
  const auto tensors = plain_payload(node, payload);
  if (!tensors) return not_implemented();
  const auto name = node.cast<std::string>();
  const Tensors values = unlocked([&] { return annotate::input_tensors(name, *tensors); });
  if (values.size() == 1) return py::reinterpret_steal<py::object>(THPVariable_Wrap(values[0]));
  py::tuple result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[i] = py::reinterpret_steal<py::object>(THPVariable_Wrap(values[i]));
  }
  return result;
}

py::object output_dict(const py::handle& node, const py::handle& payload,
                       const py::handle& export_with) {
  const auto tensors = plain_payload(node, payload);
  if (!tensors || !PyUnicode_CheckExact(export_with.ptr())) return not_implemented();
  const auto name = node.cast<std::string>();
  const OutputOptions options{.export_with = export_with.cast<std::string>()};
  unlocked([&] { annotate::output_tensors(name, *tensors, options); });
  const py::object values = py::reinterpret_steal<py::object>(PyDict_Values(payload.ptr()));
  return tensors->size() == 1 ? py::object(values[py::int_(0)]) : py::tuple(values);
}

Tensors state(const std::string& node, const py::sequence& entries) {
  const NamedTensors tensors = to_named_tensors(entries);
  return unlocked([&] { return annotate::state_tensors(node, tensors); });
}

Tensors update(const std::string& node, const py::sequence& entries) {
  const NamedTensors tensors = to_named_tensors(entries);
  return unlocked([&] { return annotate::update_state(node, tensors); });
}

/// A Python callable that C++ keeps beyond the call, and may drop on any thread.
std::shared_ptr<py::object> keep(const py::object& callable) {
  return {new py::object(callable), [](py::object* held) {
            const py::gil_scoped_acquire acquire;
            delete held;
          }};
}

void track_module(const std::string& node, const py::sequence& entries, const py::object& current) {
  const NamedTensors buffers = to_named_tensors(entries);
  auto ask = [held = keep(current)]() -> Tensors {
    const py::gil_scoped_acquire acquire;
    return (*held)().cast<Tensors>();
  };
  unlocked([&] { annotate::module(node, buffers, std::move(ask)); });
}

Tensors buffer(const std::string& node, const py::sequence& entries) {
  const NamedTensors tensors = to_named_tensors(entries);
  return unlocked([&] { return annotate::register_buffer(node, tensors); });
}

/// Hides the thread's operators while Python is inside of a with statement: it looks at traced
/// values to show or compare them, which must leave no trace.
class UnobservedScope {
 public:
  UnobservedScope& enter() {
    guard_.emplace();
    ++depth_;
    return *this;
  }
  void exit(const py::args&) {
    --depth_;
    guard_.reset();
  }
  static bool entered() noexcept { return depth_ > 0; }

 private:
  std::optional<trace::Unobserved> guard_;
  static thread_local int depth_;
};

thread_local int UnobservedScope::depth_ = 0;

// Called by every annotation: a plain C function costs a third of a bound one.
PyObject* is_active_now(PyObject*, PyObject*) {
  return PyBool_FromLong(is_active());
}

/// Returns what the call returns, or null with its exception raised in Python.
template <typename Call>
PyObject* raising(const Call& call) {
  try {
    return call().release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const Error&) {
    translate(std::current_exception());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* input_dict_now(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (!has_arguments("input_dict", count, 2)) return nullptr;
  return raising([&] { return input_dict(arguments[0], arguments[1]); });
}
PyObject* output_dict_now(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (!has_arguments("output_dict", count, 3)) return nullptr;
  return raising([&] { return output_dict(arguments[0], arguments[1], arguments[2]); });
}

PyCFunction as_function(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
PyMethodDef plain_functions[] = {
    {"is_active", is_active_now, METH_NOARGS, "Whether a session is tracing now."},
    {"input_dict", as_function(input_dict_now), METH_FASTCALL, "input_tensors() of a plain dict."},
    {"output_dict", as_function(output_dict_now), METH_FASTCALL,
     "output_tensors() of a plain dict."},
    {nullptr, nullptr, 0, nullptr},
};

/// Replacing Tensor.__getitem__ from Python also makes Tensor a sequence in CPython's eyes, for
/// good; torch.tensor([..]) then takes 0-d tensors for lists. Puts the slot back, in subclasses
/// too.
class SequenceSlot {
 public:
  SequenceSlot() : type_(py::module_::import("torch").attr("Tensor")) {
    former_ = as_type(type_)->tp_as_sequence->sq_item;
  }
  void restore() const { restore(type_); }

 private:
  static PyTypeObject* as_type(const py::handle& type) {
    return reinterpret_cast<PyTypeObject*>(type.ptr());
  }
  void restore(const py::handle& type) const {
    as_type(type)->tp_as_sequence->sq_item = former_;
    for (const py::handle subclass : type.attr("__subclasses__")()) {
      // A class with an indexing of its own has the slot by right, and so have those below it.
      if (!subclass.attr("__dict__").contains("__getitem__")) restore(subclass);
    }
  }

  py::object type_;
  ssizeargfunc former_;
};

void install_hooks() {
  const py::module_ os_path = py::module_::import("os.path");
  const auto folder_of = [&](const char* module) {
    const py::object file = py::module_::import(module).attr("__file__");
    return os_path.attr("dirname")(file).cast<std::string>() + "/";
  };
  const auto standard =
      py::module_::import("sysconfig").attr("get_path")("stdlib").cast<std::string>() + "/";
  install_frame_hooks({folder_of("torch"), folder_of("numpy"), folder_of("leapp")}, standard);
  install_export_hooks();
  // The interpreter must not be called into once it goes away.
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    remove_frame_hooks();
    remove_export_hooks();
    remove_python_converters();
  }));
}

}  // namespace

PYBIND11_MODULE(_trace, module) {
  module.doc() = "The C++ tracing API.";
  module.attr("__version__") = LEAPP_VERSION;
  py::register_local_exception_translator(&translate);
  install_hooks();
  bind_onnx(module);
  bind_look(module);

  module.def("start", &start_session, py::arg("name"), py::arg("save_path"), py::arg("verbose"),
             py::arg("dry_run"), py::arg("non_traced"), py::arg("max_cached_io"));
  module.def("stop", [] { unlocked([] { stop(); }); });
  if (PyModule_AddFunctions(module.ptr(), plain_functions) != 0) throw py::error_already_set();
  module.def("compile_graph", &compile_session, py::arg("visualize"), py::arg("verbose"),
             py::arg("validate"), py::arg("dry_run"), py::arg("rtol"), py::arg("atol"),
             py::arg("strict"), py::arg("graph_configs"), py::arg("progress"));

  module.def("input_tensors", &input, py::arg("node"), py::arg("entries"));
  module.def("output_tensors", &output, py::arg("node"), py::arg("entries"),
             py::arg("static_entries"), py::arg("export_with"), py::arg("backend_params"),
             py::arg("may_be_state"));
  module.def("state_tensors", &state, py::arg("node"), py::arg("entries"));
  module.def("update_state", &update, py::arg("node"), py::arg("entries"));
  module.def("module", &track_module, py::arg("node"), py::arg("entries"), py::arg("current"));
  module.def("register_buffer", &buffer, py::arg("node"), py::arg("entries"));
  module.def(
      "mirror_leapp_tags",
      [](const at::Tensor& source, const at::Tensor& target) {
        unlocked([&] { annotate::mirror_leapp_tags(source, target); });
      },
      py::arg("source"), py::arg("target"));
  module.def(
      "abandon", [](const std::string& node) { unlocked([&] { annotate::abandon(node); }); },
      py::arg("node"));

  module.def(
      "may_vary",
      [](const at::Tensor& tensor) {
        return !UnobservedScope::entered() && unlocked([&] { return may_vary(tensor); });
      },
      py::arg("tensor"));
  module.def(
      "is_traced",
      [](const at::Tensor& tensor) {
        return !UnobservedScope::entered() && unlocked([&] { return is_traced(tensor); });
      },
      py::arg("tensor"));
  module.def(
      "raw_constants_of",
      [](const std::string& node) { return unlocked([&] { return raw_constants_of(node); }); },
      py::arg("node"));
  module.def(
      "outside_of",
      [](const at::Tensor& tensor) { return unlocked([&] { return outside_of(tensor); }); },
      py::arg("tensor"));
  module.def(
      "opened_at",
      [](const std::string& node) { return unlocked([&] { return opened_at(node); }); },
      py::arg("node"));
  module.def(
      "note_made", [](const at::Tensor& tensor) { unlocked([&] { note_made(tensor); }); },
      py::arg("tensor"));
  module.def(
      "was_input",
      [](const at::Tensor& tensor) { return unlocked([&] { return was_input(tensor); }); },
      py::arg("tensor"));
  module.def(
      "note_size",
      [](const at::Tensor& tensor) {
        if (!UnobservedScope::entered()) unlocked([&] { note_size(tensor); });
      },
      py::arg("tensor"));
  module.def(
      "was_read",
      [](const at::Tensor& tensor) { return unlocked([&] { return was_read(tensor); }); },
      py::arg("tensor"));
  using Places = std::vector<std::int64_t>;
  using Numbers = std::vector<at::Tensor>;
  module.def(
      "pick",
      [](const at::Tensor& of, const Places& places, const Numbers& numbers) {
        return unlocked([&] { return pick(of, places, numbers); });
      },
      py::arg("of"), py::arg("places"), py::arg("numbers"));
  module.def(
      "put",
      [](const at::Tensor& of, const Places& places, const Numbers& numbers,
         const at::Tensor& value) { unlocked([&] { put(of, places, numbers, value); }); },
      py::arg("of"), py::arg("places"), py::arg("numbers"), py::arg("value"));
  module.def(
      "put_back",
      [](const at::Tensor& copy, const at::Tensor& of, const Numbers& numbers) {
        unlocked([&] { put_back(copy, of, numbers); });
      },
      py::arg("copy"), py::arg("of"), py::arg("numbers"));
  module.def(
      "note_escape",
      [](const at::Tensor& tensor, const std::string& text) {
        unlocked([&] { note_escape(tensor, text); });
      },
      py::arg("tensor"), py::arg("text"));
  module.def(
      "warn", [](const std::string& text) { unlocked([&] { warn(text); }); }, py::arg("text"));
  module.def(
      "say",
      [](const std::string& text, bool aloud) {
        unlocked([&] { say(aloud ? LogLevel::kWarning : LogLevel::kDebug, text); });
      },
      py::arg("text"), py::arg("aloud"));
  module.def("touch", [] { unlocked([] { touch(); }); });
  module.def("user_location", [] { return current_location().to_string(); });
  module.def("restore_sequence_slot", [slot = SequenceSlot()] { slot.restore(); });
  py::class_<UnobservedScope>(module, "Unobserved")
      .def(py::init<>())
      .def("__enter__", &UnobservedScope::enter, py::return_value_policy::reference)
      .def("__exit__", &UnobservedScope::exit);
}

}  // namespace leapp::python
