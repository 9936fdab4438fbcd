// Python arguments as C++ values, with errors that name the argument.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "leapp/error.h"

namespace leapp::python {

/// Throws Error (LP002): "threads must be a whole number, not str".
[[noreturn]] inline void wrong_setting(const std::string& name, pybind11::handle value,
                                       const std::string& expected) {
  throw Error(Code::kWrongType,
              name + " must be " + expected + ", not " +
                  std::string(pybind11::str(pybind11::type::of(value).attr("__name__"))));
}

/// Throws Error (LP003): "threads must be a whole number from .. to .., not
/// 1180591620717411303424".
[[noreturn]] inline void wrong_value(const std::string& name, pybind11::handle value,
                                     const std::string& expected) {
  throw Error(Code::kWrongValue, name + " must be " + expected + ", not " +
                                     std::string(pybind11::repr(value)).substr(0, 80));
}

/// Returns whether the value has a suitable Python type for a T, so only its value is out of range:
/// a number that is too large, or a string with a null character.
template <typename T>
bool has_type_of(pybind11::handle value) {
  if constexpr (std::is_same_v<T, bool>) {
    return false;
  } else if constexpr (std::is_integral_v<T>) {
    return PyIndex_Check(value.ptr()) != 0;
  } else if constexpr (std::is_same_v<T, double>) {
    return PyLong_Check(value.ptr()) != 0;
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return PyUnicode_Check(value.ptr()) != 0 || pybind11::hasattr(value, "__fspath__");
  } else {
    return std::is_same_v<T, std::string> && PyUnicode_Check(value.ptr()) != 0;
  }
}

/// Returns the value of an argument as a T. Only True and False are bools, a float is not an
/// integer, and NaN is not a number. Throws an Error that names the argument: LP002 for another
/// type, LP003 for a value that a T cannot hold.
template <typename T>
T setting(const std::string& name, pybind11::handle value, const std::string& expected) {
  constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
  if (kIsNumber && PyBool_Check(value.ptr()) != 0) wrong_setting(name, value, expected);
  if (std::is_same_v<T, std::string> && PyUnicode_Check(value.ptr()) == 0) {
    wrong_setting(name, value, expected);
  }
  // Floating-point arguments also accept integers and NumPy numbers; other types accept no
  // substitutes.
  constexpr bool kConverts = std::is_same_v<T, double>;
  pybind11::detail::make_caster<T> caster;
  if (!caster.load(value, kConverts)) {
    if (!has_type_of<T>(value)) wrong_setting(name, value, expected);
    if constexpr (std::is_integral_v<T>) {
      wrong_value(name, value,
                  expected + " from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                      std::to_string(std::numeric_limits<T>::max()));
    }
    wrong_value(name, value, expected);
  }
  T result = pybind11::detail::cast_op<T>(std::move(caster));
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(result)) wrong_value(name, value, expected);
  }
  return result;
}

/// Returns an ordered row of real numbers: a list, a tuple, an array or a tensor of one dimension.
/// A set or a dict has no order, and a complex number has no real value. NaN is a number. Throws
/// Error (LP002), with the first element that is not a number.
inline std::vector<double> numbers(const std::string& name, pybind11::handle value) {
  namespace py = pybind11;
  const bool is_text = PyUnicode_Check(value.ptr()) != 0 || PyBytes_Check(value.ptr()) != 0 ||
                       PyByteArray_Check(value.ptr()) != 0;
  const Py_ssize_t size =
      is_text || !PySequence_Check(value.ptr()) ? -1 : PyObject_Size(value.ptr());
  if (size < 0) {
    PyErr_Clear();  // an array without dimensions
    wrong_setting(name, value, "a list of numbers");
  }
  const auto is_real = [](py::handle element) {
    const py::object type = py::getattr(element, "dtype", py::none());
    return PyNumber_Check(element.ptr()) != 0 && PyComplex_Check(element.ptr()) == 0 &&
           py::getattr(element, "ndim", py::int_(0)).equal(py::int_(0)) &&
           !py::getattr(type, "kind", py::none()).equal(py::str("c"));
  };
  std::vector<double> result;
  for (const py::handle element : py::reinterpret_borrow<py::sequence>(value)) {
    if (!is_real(element)) wrong_setting(name, element, "a list of only numbers");
    result.push_back(PyFloat_AsDouble(element.ptr()));
    if (PyErr_Occurred() == nullptr) continue;
    PyErr_Clear();
    wrong_value(name, element, "a list of only numbers");
  }
  return result;
}

/// Returns the value of an argument that may be None; None gives `otherwise`.
template <typename T>
T setting_or(T otherwise, const std::string& name, pybind11::handle value,
             const std::string& expected) {
  return value.is_none() ? std::move(otherwise) : setting<T>(name, value, expected + " or None");
}

}  // namespace leapp::python
