// Ports in C: how many, what they are called, what they hold and mean.
#include <algorithm>
#include <variant>

#include "runtime/c_call.h"

using leapp::c::guarded;
using leapp::c::is_null;
using leapp::c::no_such;

namespace {

leapp_status describe(const leapp::TensorView& view, leapp_tensor_info* info) {
  static_assert(static_cast<int>(LEAPP_COMPLEX128) == static_cast<int>(leapp::DType::kComplex128));
  static_assert(static_cast<int>(LEAPP_FLOAT32) == static_cast<int>(leapp::DType::kFloat32));
  info->dtype = static_cast<leapp_dtype>(view.dtype);
  info->rank = view.shape.size();
  info->shape = view.shape.data();
  info->bytes = view.byte_size();
  return LEAPP_OK;
}

// The port that a bundle describes, or null with the error set.
const leapp::Port* input_of(const leapp_manager* manager, size_t input) {
  if (manager == nullptr) is_null("manager");
  if (manager == nullptr || input >= manager->inputs.size()) return nullptr;
  return manager->manager.bundle().find_input(
      *leapp::parse_port_ref(manager->manager.inputs()[input]));
}

const leapp::Port* output_of(const leapp_manager* manager, size_t output) {
  if (manager == nullptr) is_null("manager");
  if (manager == nullptr || output >= manager->outputs.size()) return nullptr;
  return manager->manager.bundle().find_output(
      *leapp::parse_port_ref(manager->manager.outputs()[output]));
}

const char* kind_of_port(const leapp::Port* port) {
  return port != nullptr && port->semantics.kind ? port->semantics.kind->c_str() : nullptr;
}

const char* text_of_port(const leapp::Port* port, const char* key) {
  if (key == nullptr) is_null("key");
  if (port == nullptr || key == nullptr) return nullptr;
  for (const auto& [name, value] : port->semantics.extra) {
    const auto* const text = std::get_if<std::string>(&value.value);
    if (name == key && text != nullptr) return text->c_str();
  }
  return nullptr;
}

// Names may describe the last dimensions only.
const char* element_of(const leapp::Port* port, size_t dimension, size_t element) {
  if (port == nullptr || !port->semantics.element_names) return nullptr;
  const leapp::ElementNames& names = *port->semantics.element_names;
  const std::size_t unnamed = port->shape.size() - std::min(names.size(), port->shape.size());
  if (dimension < unnamed || dimension - unnamed >= names.size()) return nullptr;
  const auto* list = std::get_if<std::vector<std::string>>(&names[dimension - unnamed]);
  return list != nullptr && element < list->size() ? (*list)[element].c_str() : nullptr;
}

}  // namespace

extern "C" {

size_t leapp_input_count(const leapp_manager* manager) {
  if (manager == nullptr) {
    is_null("manager");
    return 0;
  }
  return manager->inputs.size();
}

size_t leapp_output_count(const leapp_manager* manager) {
  if (manager == nullptr) {
    is_null("manager");
    return 0;
  }
  return manager->outputs.size();
}

const char* leapp_input_name(const leapp_manager* manager, size_t input) {
  if (manager == nullptr) {
    is_null("manager");
    return nullptr;
  }
  const auto& names = manager->manager.inputs();
  return input < names.size() ? names[input].c_str() : nullptr;
}

const char* leapp_output_name(const leapp_manager* manager, size_t output) {
  if (manager == nullptr) {
    is_null("manager");
    return nullptr;
  }
  const auto& names = manager->manager.outputs();
  return output < names.size() ? names[output].c_str() : nullptr;
}

leapp_status leapp_find_input(const leapp_manager* manager, const char* name, size_t* input) {
  if (manager == nullptr) return is_null("manager");
  if (name == nullptr) return is_null("name");
  if (input == nullptr) return is_null("input");
  return guarded([&] { *input = manager->manager.input_port(name).index(); });
}

leapp_status leapp_find_output(const leapp_manager* manager, const char* name, size_t* output) {
  if (manager == nullptr) return is_null("manager");
  if (name == nullptr) return is_null("name");
  if (output == nullptr) return is_null("output");
  return guarded([&] { *output = manager->manager.output_port(name).index(); });
}

leapp_status leapp_input_info(leapp_manager* manager, size_t input, leapp_tensor_info* info) {
  if (manager == nullptr) return is_null("manager");
  if (info == nullptr) return is_null("info");
  if (input >= manager->inputs.size()) return no_such("input");
  return describe(manager->manager.input(manager->inputs[input]), info);
}

leapp_status leapp_output_info(leapp_manager* manager, size_t output, leapp_tensor_info* info) {
  if (manager == nullptr) return is_null("manager");
  if (info == nullptr) return is_null("info");
  if (output >= manager->outputs.size()) return no_such("output");
  return describe(manager->manager.output(manager->outputs[output]), info);
}

const char* leapp_input_kind(const leapp_manager* manager, size_t input) {
  return kind_of_port(input_of(manager, input));
}

const char* leapp_output_kind(const leapp_manager* manager, size_t output) {
  return kind_of_port(output_of(manager, output));
}

const char* leapp_input_text(const leapp_manager* manager, size_t input, const char* key) {
  return text_of_port(input_of(manager, input), key);
}

const char* leapp_output_text(const leapp_manager* manager, size_t output, const char* key) {
  return text_of_port(output_of(manager, output), key);
}

const char* leapp_input_element(const leapp_manager* manager, size_t input, size_t dimension,
                                size_t element) {
  return element_of(input_of(manager, input), dimension, element);
}

const char* leapp_output_element(const leapp_manager* manager, size_t output, size_t dimension,
                                 size_t element) {
  return element_of(output_of(manager, output), dimension, element);
}

}  // extern "C"
