// The parts of leapp._trace, one file per noun, and shared helpers. The interpreter lock is
// released around every call, because recording takes its own locks and reads Python's frames.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>

#include "error_translation.h"

namespace leapp::python {

void bind_session(pybind11::module_& module);      ///< start, stop, compile_graph, diagnostics
void bind_annotations(pybind11::module_& module);  ///< input_tensors, .., abandon
void bind_front_end(pybind11::module_& module);    ///< session/front_end.h, and Unobserved
void bind_indexing(pybind11::module_& module);     ///< ring[head] for an index that may vary
void bind_program(pybind11::module_& module);      ///< see trace_program.h
void bind_onnx(pybind11::module_& module);         ///< converters written in Python
void bind_shadow(pybind11::module_& module);       ///< leapp/trace/shadow.h

/// Returns whether this thread's access to values is not observed: inside a _trace.Unobserved().
bool is_unobserved() noexcept;

/// Calls a function without the interpreter lock. Python exceptions of callbacks pass through.
template <typename Call>
auto unlocked(const Call& call) {
  const pybind11::gil_scoped_release release;
  return call();
}

/// Returns a function with plain arguments that calls `function` without the lock.
template <typename Result, typename... Arguments>
auto unlocked_call(Result (*function)(Arguments...)) {
  return [function](Arguments... arguments) -> Result {
    return unlocked([&] { return function(arguments...); });
  };
}

/// Returns the result of the call, or null with its exception raised in Python. For plain C
/// functions, which cost a third of bound ones.
template <typename Call>
PyObject* raising(const Call& call) {
  try {
    return call().release().ptr();
  } catch (pybind11::error_already_set& error) {
    error.restore();
  } catch (const Error&) {
    translate(std::current_exception());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

/// Adds plain C functions; the table must live as long as the module.
inline void add_functions(pybind11::module_& module, PyMethodDef* functions) {
  if (PyModule_AddFunctions(module.ptr(), functions) != 0) throw pybind11::error_already_set();
}

}  // namespace leapp::python
