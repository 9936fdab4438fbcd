#include "onnx/port_check.h"

#include "base/find.h"
#include "base/join.h"

namespace leapp::onnx {
namespace {

bool fits(const Shape& shape, const std::vector<Dimension>& dimensions) {
  return std::ranges::equal(shape, dimensions, [](std::int64_t size, const Dimension& dimension) {
    const auto* fixed = std::get_if<std::int64_t>(&dimension);
    return fixed == nullptr || *fixed == size;
  });
}

}  // namespace

std::string find_port_fault(const Port& declared, const std::vector<ValueInfo>& found,
                            const std::string& model) {
  const std::string but = ", but " + model + " has ";
  const ValueInfo* match = find_in(found, declared.name, &ValueInfo::name);
  if (match == nullptr) return "is declared" + but + join(found, &ValueInfo::name);
  if (match->type != element_type_of(declared.dtype)) {
    return "is declared as " + std::string(name_of(declared.dtype)) + but + text_of(match->type);
  }
  if (match->shape && !fits(declared.shape, *match->shape)) {
    return "is declared with shape " + to_string(declared.shape) + but + text_of(*match->shape);
  }
  return {};
}

}  // namespace leapp::onnx
