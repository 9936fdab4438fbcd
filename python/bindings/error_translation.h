// Converts leapp::Error to the exceptions of leapp.errors, for every module.
#pragma once

#include <pybind11/pybind11.h>

#include <cstring>
#include <exception>

#include "leapp/error.h"

namespace leapp::python {

/// Returns the class of leapp.errors.
inline const char* class_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kInternal:
      return "LeappError";
    case ErrorKind::kType:
      return "LeappTypeError";
    case ErrorKind::kValue:
      return "LeappValueError";
    case ErrorKind::kNotFound:
      return "LeappNotFoundError";
    case ErrorKind::kIo:
      return "LeappIoError";
    case ErrorKind::kExport:
      return "LeappExportError";
    case ErrorKind::kValidation:
      return "LeappValidationError";
  }
  return "LeappError";
}

/// Translates an exception, for register_local_exception_translator. The exception's `code` is
/// "LP105" or "B7".
inline void translate(std::exception_ptr thrown) {
  namespace py = pybind11;
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    // A message may quote a broken file, whose bytes need not be UTF-8.
    const char* text = error.what();
    const auto message = py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "backslashreplace"));
    const py::object type = py::module_::import("leapp.errors").attr(class_name(error.kind()));
    const py::object exception = type(message);
    exception.attr("code") = to_string(error.code());
    PyErr_SetObject(type.ptr(), exception.ptr());
  }
}

}  // namespace leapp::python
