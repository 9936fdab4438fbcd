#include "trace_convert.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.h"

namespace py = pybind11;

namespace leapp::python {
namespace {

constexpr const char* kTemporalAxis = "__temporal_axis__";

ElementNames to_element_names(const py::sequence& names, const py::object& period) {
  ElementNames result;
  result.reserve(names.size());
  for (const py::handle axis : names) {
    if (axis.is_none()) {
      result.emplace_back(std::monostate{});
    } else if (py::isinstance<py::str>(axis) && axis.cast<std::string>() == kTemporalAxis) {
      result.emplace_back(TemporalAxis{period.cast<double>()});
    } else {
      result.emplace_back(axis.cast<std::vector<std::string>>());
    }
  }
  return result;
}

Semantics to_semantics(const std::string& name, const py::tuple& meaning) {
  Semantics result;
  if (!meaning[0].is_none()) result.kind = meaning[0].cast<std::string>();
  if (!meaning[1].is_none()) {
    result.element_names = to_element_names(meaning[1].cast<py::sequence>(), meaning[2]);
  }
  if (!meaning[3].is_none()) {
    result.extra = to_metadata(meaning[3].cast<py::dict>(), "extra of '" + name + "'");
  }
  return result;
}

std::string path_below(const std::string& what, const std::string& key) {
  return what + "['" + key + "']";
}

// A value that contains itself has infinite depth.
constexpr int kMostLevels = 32;

Metadata to_value(const py::handle& value, const std::string& what, int levels);

Metadata::List to_list(const py::iterable& values, const std::string& what, int levels) {
  Metadata::List result;
  std::size_t i = 0;
  for (const py::handle item : values) {
    result.push_back(to_value(item, what + "[" + std::to_string(i++) + "]", levels));
  }
  return result;
}

Metadata::Map to_map(const py::dict& values, const std::string& what, int levels) {
  Metadata::Map result;
  result.reserve(values.size());
  for (const auto& [key, value] : values) {
    require(py::isinstance<py::str>(key), Code::kWrongType,
            what + " must have strings as keys, got " + std::string(py::repr(key)) + ".");
    const auto name = key.cast<std::string>();
    result.emplace_back(name, to_value(value, path_below(what, name), levels));
  }
  return result;
}

std::int64_t to_integer(const py::handle& value, const std::string& what) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  require(overflow == 0, Code::kWrongValue,
          what + " is " + std::string(py::str(value)) + ", which does not fit into 64 bits.");
  return number;
}

Metadata to_value(const py::handle& value, const std::string& what, int levels) {
  require(levels > 0, Code::kWrongValue,
          what + " is nested deeper than " + std::to_string(kMostLevels) +
              " levels, or contains itself.");
  if (value.is_none()) return {std::monostate{}};
  // bool before int: Python's bool is an int.
  if (py::isinstance<py::bool_>(value)) return {value.cast<bool>()};
  if (PyLong_CheckExact(value.ptr())) return {to_integer(value, what)};
  if (PyFloat_CheckExact(value.ptr())) return {value.cast<double>()};
  if (PyUnicode_CheckExact(value.ptr())) return {value.cast<std::string>()};
  if (py::isinstance<py::dict>(value)) return {to_map(value.cast<py::dict>(), what, levels - 1)};
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    return {to_list(value.cast<py::iterable>(), what, levels - 1)};
  }
  // Converts objects with a plain form: enum members, NumPy scalars and arrays, tensors, paths,
  // devices.
  if (py::isinstance(value, py::module_::import("enum").attr("Enum"))) {
    return to_value(value.attr("value"), what, levels - 1);
  }
  if (py::hasattr(value, "tolist")) return to_value(value.attr("tolist")(), what, levels - 1);
  if (py::hasattr(value, "__fspath__")) return {std::string(py::str(value))};
  if (PyLong_Check(value.ptr())) return {to_integer(value, what)};
  if (PyFloat_Check(value.ptr())) return {value.cast<double>()};
  if (PyUnicode_Check(value.ptr())) return {value.cast<std::string>()};
  if (THPDevice_Check(value.ptr())) return {std::string(py::str(value))};
  throw Error(Code::kWrongType, what + " is of type " +
                                    std::string(py::str(py::type::of(value).attr("__name__"))) +
                                    ", which a bundle cannot contain. Use numbers, strings, bools, "
                                    "None, or lists and dicts of them.");
}

}  // namespace

NamedTensors to_named_tensors(const py::sequence& entries) {
  NamedTensors result;
  result.reserve(entries.size());
  for (const py::handle item : entries) {
    const auto entry = item.cast<py::tuple>();
    TensorSemantics named{entry[0].cast<std::string>(), entry[1].cast<at::Tensor>(), {}};
    if (!entry[2].is_none()) {
      named.semantics = to_semantics(named.name, entry[2].cast<py::tuple>());
    }
    result.push_back(std::move(named));
  }
  return result;
}

Metadata::Map to_metadata(const py::dict& values, const std::string& what) {
  return to_map(values, what, kMostLevels);
}

NodeSchedule to_schedule(const ScheduleTuple& entry) {
  const auto& [node, every, phase, repeat, carry, index, when, on_change, ages] = entry;
  return {.node = node,
          .every = every,
          .phase = phase,
          .repeat = repeat,
          .carry = carry,
          .index = index,
          .when = parse_port_ref(when),
          .on_change = on_change,
          .ages = ages};
}

}  // namespace leapp::python
