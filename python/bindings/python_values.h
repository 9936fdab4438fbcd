// Python's objects in C++ and values of C++ in Python, for both modules.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "leapp/metadata.h"

namespace leapp::python {

/// An object that C++ keeps beyond the call, and may drop on any thread.
using Kept = std::shared_ptr<pybind11::object>;

inline Kept keep(pybind11::object object) {
  return {new pybind11::object(std::move(object)), [](pybind11::object* kept) {
            const pybind11::gil_scoped_acquire lock;
            delete kept;
          }};
}

/// Metadata as dicts, lists, numbers and text.
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
