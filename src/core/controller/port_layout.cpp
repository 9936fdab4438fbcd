#include "controller/port_layout.h"

#include <algorithm>
#include <set>

#include "base/utf8.h"

namespace leapp {
namespace {

/// Returns "wxyz" for w, x, y, z and qw, qx, qy, qz; empty if a name is something else.
std::string quaternion_letters(const std::vector<std::string>& names) {
  std::string letters;
  if (names.size() < 4) return letters;
  for (auto name = names.end() - 4; name != names.end(); ++name) {
    const std::string part = name->starts_with('q') ? name->substr(1) : *name;
    if (part != "w" && part != "x" && part != "y" && part != "z") return {};
    letters += part;
  }
  if (std::set<char>(letters.begin(), letters.end()).size() != 4) return {};  // "x", "qx"
  return letters;
}

std::vector<std::string> names_of_axis(const ElementNames& names, std::size_t axis,
                                       std::size_t dimensions) {
  const std::size_t first =
      dimensions - names.size();  // a shorter list describes the last dimensions
  if (axis < first) return {};
  const auto* const words = std::get_if<std::vector<std::string>>(&names[axis - first]);
  return words ? *words : std::vector<std::string>();
}

}  // namespace

bool name_quaternion(std::vector<std::string>& names, std::optional<QuaternionOrder> order) {
  const std::string letters = quaternion_letters(names);
  if (names.size() < 4 || (!order && letters.empty())) return true;
  const std::string declared = !order                             ? letters
                               : *order == QuaternionOrder::kWxyz ? "wxyz"
                                                                  : "xyzw";
  if (!letters.empty() && letters != declared) return false;
  for (std::size_t i = 0; i < 4; ++i) {
    names[names.size() - 4 + i] = std::string("q") + declared[i];
  }
  return true;
}

NamedLayout find_layout(const Port& port, const PortContract& contract) {
  NamedLayout found;
  const Shape dims = port.shape.empty() ? Shape{1} : port.shape;
  const ElementNames names = port.semantics.element_names.value_or(ElementNames{});
  if (names.size() > dims.size()) return {{}, {}, "its element_names do not match its shape"};
  const std::size_t first = dims.size() - names.size();
  std::size_t element_axis = dims.size();
  std::size_t time_axis = dims.size();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const auto* const time =
        axis < first ? nullptr : std::get_if<TemporalAxis>(&names[axis - first]);
    if (time) {
      time_axis = axis;
      found.layout.period_ms = time->period_ms;
    } else if (element_axis == dims.size() || !names_of_axis(names, axis, dims.size()).empty() ||
               (dims[element_axis] == 1 &&
                names_of_axis(names, element_axis, dims.size()).empty())) {
      element_axis = axis;
    }
  }
  if (element_axis == dims.size()) return {{}, {}, "it has a time axis but no elements"};
  std::size_t stride = 1;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(dims[axis]);
    if (axis == element_axis) {
      found.layout.elements = size;
      found.layout.element_stride = stride;
    } else if (axis == time_axis) {
      found.layout.steps = size;
      found.layout.step_stride = stride;
    } else if (size != 1) {
      return {{},
              {},
              "dimension " + std::to_string(axis) + " of its shape " + to_string(port.shape) +
                  " has " + std::to_string(size) +
                  " entries without names; declare a time dimension as TemporalAxis"};
    }
    stride *= size;
  }
  found.names = names_of_axis(names, element_axis, dims.size());
  if (found.names.empty() && contract.quaternion && found.layout.elements == 4) {
    found.names.assign(4, "");
  }
  if (!found.names.empty() && found.names.size() != found.layout.elements) {
    found.fault = "it has " + std::to_string(found.names.size()) + " element names for " +
                  std::to_string(found.layout.elements) + " elements";
  } else if (!name_quaternion(found.names, contract.quaternion)) {
    found.fault = "its element_names and its quaternion order contradict each other";
  } else if (std::set<std::string>(found.names.begin(), found.names.end()).size() !=
             found.names.size()) {
    found.fault = "an element name appears twice";
  } else if (port.dtype != DType::kFloat32 && port.dtype != DType::kFloat64) {
    found.fault =
        "it is " + std::string(name_of(port.dtype)) + ", but the values of a robot are not";
  }
  return found;
}

}  // namespace leapp
