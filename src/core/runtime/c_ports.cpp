// Ports in C: their number, names, values and semantics.
#include <algorithm>
#include <variant>

#include "runtime/c_call.h"

using leapp::c::guarded;
using leapp::c::is_null;
using leapp::c::no_such;

namespace {

leapp_status describe(const leapp::TensorView& view, leapp_tensor_info* info, size_t size) {
  static_assert(static_cast<int>(LEAPP_COMPLEX128) == static_cast<int>(leapp::DType::kComplex128));
  static_assert(static_cast<int>(LEAPP_FLOAT32) == static_cast<int>(leapp::DType::kFloat32));
  leapp_tensor_info found = {};
  found.dtype = static_cast<leapp_dtype>(view.dtype);
  found.rank = view.shape.size();
  found.shape = view.shape.data();
  found.bytes = view.byte_size();
  leapp::c::put_struct(found, info, size);
  return LEAPP_OK;
}

// Returns the port that a bundle describes, or null after storing the error.
const leapp::Port* input_of(const leapp_manager* manager, size_t input) {
  if (manager == nullptr) is_null("manager");
  if (manager == nullptr) return nullptr;
  if (input >= manager->described_inputs.size()) no_such("input");
  return input < manager->described_inputs.size() ? manager->described_inputs[input] : nullptr;
}

const leapp::Port* output_of(const leapp_manager* manager, size_t output) {
  if (manager == nullptr) is_null("manager");
  if (manager == nullptr) return nullptr;
  if (output >= manager->described_outputs.size()) no_such("output");
  return output < manager->described_outputs.size() ? manager->described_outputs[output] : nullptr;
}

const char* name_at(const std::vector<std::string>& names, size_t index, const char* side) {
  if (index < names.size()) return names[index].c_str();
  no_such(side);
  return nullptr;
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

// A shorter list names the last dimensions.
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
  return manager->manager.inputs().size();
}

size_t leapp_noise_input_count(const leapp_manager* manager) {
  if (manager == nullptr) {
    is_null("manager");
    return 0;
  }
  return manager->manager.noise_inputs().size();
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
  const std::vector<std::string>& names = manager->manager.inputs();
  if (input < names.size()) return names[input].c_str();
  return name_at(manager->manager.noise_inputs(), input - names.size(), "input");
}

const char* leapp_output_name(const leapp_manager* manager, size_t output) {
  if (manager == nullptr) {
    is_null("manager");
    return nullptr;
  }
  return name_at(manager->manager.outputs(), output, "output");
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

leapp_status leapp_input_info(leapp_manager* manager, size_t input, leapp_tensor_info* info,
                              size_t size) {
  if (manager == nullptr) return is_null("manager");
  if (info == nullptr) return is_null("info");
  if (input >= manager->inputs.size()) return no_such("input");
  return describe(manager->manager.input(manager->inputs[input]), info, size);
}

leapp_status leapp_output_info(leapp_manager* manager, size_t output, leapp_tensor_info* info,
                               size_t size) {
  if (manager == nullptr) return is_null("manager");
  if (info == nullptr) return is_null("info");
  if (output >= manager->outputs.size()) return no_such("output");
  return describe(manager->manager.output(manager->outputs[output]), info, size);
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
