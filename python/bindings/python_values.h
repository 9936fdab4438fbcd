// Python objects in C++, and C++ values in Python, for all modules.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "leapp/error.h"
#include "leapp/metadata.h"

namespace leapp::python {

/// A Python object that C++ keeps after the call, and may release on any thread.
using Kept = std::shared_ptr<pybind11::object>;

inline Kept keep(pybind11::object object) {
  return {new pybind11::object(std::move(object)), [](pybind11::object* kept) {
            const pybind11::gil_scoped_acquire lock;
            delete kept;
          }};
}

/// The hash of tables that are searched with a string_view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>()(text);
  }
};

/// Returns the port name in a Python string; valid as long as `key`. Throws Error(LP002).
inline std::string_view text_of(pybind11::handle key) {
  pybind11::ssize_t size = 0;
  const char* text =
      PyUnicode_Check(key.ptr()) != 0 ? PyUnicode_AsUTF8AndSize(key.ptr(), &size) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    throw Error(Code::kWrongType, "ports are named by a string, 'node/port', not by " +
                                      std::string(pybind11::repr(key)).substr(0, 80));
  }
  return {text, static_cast<std::size_t>(size)};
}

/// Returns metadata as dicts, lists, numbers and strings.
inline pybind11::object to_python(const Metadata& metadata) {
  return std::visit(
      [](const auto& value) -> pybind11::object {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return pybind11::none();
        } else if constexpr (std::is_same_v<T, Metadata::List>) {
          pybind11::list list;
          for (const Metadata& item : value) list.append(to_python(item));
          return list;
        } else if constexpr (std::is_same_v<T, Metadata::Map>) {
          pybind11::dict dict;
          for (const auto& [key, item] : value) dict[pybind11::str(key)] = to_python(item);
          return dict;
        } else {
          return pybind11::cast(value);
        }
      },
      metadata.value);
}

}  // namespace leapp::python
