#include "build/policy_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/cpp_symbol.h"
#include "build/native_text.h"
#include "build/policy_templates.h"
#include "bundle/noise_port.h"

namespace leapp {
namespace {

// Replaces each "@key@" in the text.
std::string fill(const char* text, const std::map<std::string, std::string>& values) {
  std::string filled;
  std::string_view rest = text;
  while (true) {
    const std::size_t begin = rest.find('@');
    filled += rest.substr(0, begin);
    if (begin == std::string_view::npos) return filled;
    const std::size_t end = rest.find('@', begin + 1);
    filled += values.at(std::string(rest.substr(begin + 1, end - begin - 1)));
    rest.remove_prefix(end + 1);
  }
}

const char* element_type(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kUInt8:
      return "std::uint8_t";
    case DType::kInt8:
      return "std::int8_t";
    case DType::kInt16:
      return "std::int16_t";
    case DType::kUInt32:
      return "std::uint32_t";
    case DType::kInt32:
      return "std::int32_t";
    case DType::kUInt64:
      return "std::uint64_t";
    case DType::kInt64:
      return "std::int64_t";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return "std::uint16_t";  // as bits, for values without a C++ literal
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
      return "std::uint8_t";
    case DType::kComplex64:
      return "std::complex<float>";
    case DType::kComplex128:
      return "std::complex<double>";
  }
  return "unsigned char";
}

// C++ keywords that "node_port" could equal. Every port name contains an underscore.
constexpr std::array<std::string_view, 17> kKeywords = {
    "and_eq",        "char16_t",    "char32_t",     "char8_t", "co_await", "co_return",
    "co_yield",      "const_cast",  "dynamic_cast", "not_eq",  "or_eq",    "reinterpret_cast",
    "static_assert", "static_cast", "thread_local", "wchar_t", "xor_eq"};

std::string span_type(const Port& port, bool is_input) {
  return "std::span<" + std::string(is_input ? "" : "const ") + element_type(port.dtype) + ", " +
         std::to_string(element_count(port.shape)) + ">";
}

std::string list_of(const std::vector<std::string>& names, const std::string& type,
                    const std::string& name) {
  if (names.empty()) return "    " + type + "* " + name + " = nullptr;\n";
  std::string text = "    " + type + " " + name + "[] = {";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + "};\n";
}

// An assembler object with the bytes of a file.
std::string embedded(const std::string& symbol, const std::string& file) {
  return "__asm__(\".pushsection .rodata\\n.balign 64\\n.globl " + symbol + "\\n.hidden " + symbol +
         "\\n" + symbol + ":\\n.incbin \\\"" + file + "\\\"\\n.byte 0\\n.popsection\\n\");\n" +
         "extern \"C\" __attribute__((visibility(\"hidden\"))) const unsigned char " + symbol +
         "[];\n";
}

}  // namespace

std::string cpp_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "_" + name : name;
}

PolicyText::PolicyText(const Bundle& bundle, const SafeTensors& initial_values)
    : bundle_(bundle),
      initial_values_(initial_values),
      name_(cpp_name(bundle.file.stem().string())),
      wiring_(bundle) {
  for (const std::string_view keyword : kKeywords) names_.add(std::string(keyword));
  for (const Wiring::Connection& wire : wiring_.connections()) {
    if (!wire.last_tick) continue;
    feedback_.push_back({input_ref(bundle, wire.target), output_ref(bundle, wire.source)});
  }
  add_buffers();
  add_initial_values();
  if (!noise_ports(bundle).empty()) noise_.emplace(bundle);
  if (wiring_.has_schedule()) add_schedule();
}

// Of feedback inputs; with a schedule also of the outputs that forward wires may read before their
// node has run.
void PolicyText::add_initial_values() {
  for (const Feedback& feedback : feedback_) {
    const ConstTensorView* value = initial_values_.find(to_string(feedback.target));
    if (value != nullptr) initials_.push_back({inputs_.at(feedback.target).name, value});
  }
  if (!wiring_.has_schedule()) return;
  for (const Wiring::Connection& wire : wiring_.connections()) {
    const ConstTensorView* value = initial_values_.find(to_string(input_ref(bundle_, wire.target)));
    if (wire.last_tick || value == nullptr) continue;
    initials_.push_back({outputs_.at(output_ref(bundle_, wire.source)).name, value});
  }
}

void PolicyText::add_schedule() {
  ScheduleText::Members members;
  for (std::size_t node = 0; node < bundle_.models.size(); ++node) {
    const Model& model = bundle_.models[node];
    std::vector<std::string>& inputs = members.inputs.emplace_back();
    std::vector<std::string>& outputs = members.outputs.emplace_back();
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      inputs.push_back(input_buffer({node, i}).name);
    }
    for (const Port& port : model.outputs) {
      outputs.push_back(outputs_.at({model.name, port.name}).name);
    }
  }
  schedule_.emplace(bundle_, wiring_, std::move(members), names_, noise_);
}

// Ports whose names differ only in punctuation get a number.
void PolicyText::add_buffers() {
  for (const std::size_t index : wiring_.order()) {
    const Model& model = bundle_.models[index];
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const std::optional<Wiring::Source>& source = wiring_.source_of({index, i});
      if (source && !source->last_tick) continue;  // reads the buffer of its source
      const Port& port = model.inputs[i];
      inputs_[{model.name, port.name}] = {names_.take(cpp_name(model.name + "_" + port.name)),
                                          &port};
    }
    for (const Port& port : model.outputs) {
      outputs_[{model.name, port.name}] = {names_.take(cpp_name(model.name + "_" + port.name)),
                                           &port};
    }
  }
}

const PolicyText::Buffer& PolicyText::input_buffer(PortIndex input) const {
  const std::optional<Wiring::Source>& source = wiring_.source_of(input);
  return source && !source->last_tick ? outputs_.at(output_ref(bundle_, source->output))
                                      : inputs_.at(input_ref(bundle_, input));
}

std::string PolicyText::span_function(const Buffer& buffer, bool is_input,
                                      const std::string& scope) {
  return span_type(*buffer.port, is_input) + " " + scope + buffer.name + "()" +
         (is_input ? "" : " const") + " noexcept";
}

std::vector<std::pair<const PolicyText::Buffer*, bool>> PolicyText::ports() const {
  std::vector<std::pair<const Buffer*, bool>> ports;
  for (const NodePorts& node : bundle_.pipeline.inputs) {
    for (const std::string& port : node.ports)
      ports.emplace_back(&inputs_.at({node.node, port}), true);
  }
  for (const NodePorts& node : bundle_.pipeline.outputs) {
    for (const std::string& port : node.ports) {
      ports.emplace_back(&outputs_.at({node.node, port}), false);
    }
  }
  return ports;
}

std::string PolicyText::header() const {
  std::string inputs;
  std::string outputs;
  std::string noise;
  for (const auto& [buffer, is_input] : ports()) {
    std::string& list = !is_input ? outputs : is_noise(*buffer->port) ? noise : inputs;
    list += "  " + span_function(*buffer, is_input, "") + ";  // " +
            to_string(buffer->port->shape) + "\n";
  }
  return fill(kPolicyHeader, {{"name", name_},
                              {"inputs", inputs},
                              {"outputs", outputs},
                              {"noise", noise_ ? noise_->declarations(noise) : ""}});
}

std::string PolicyText::nodes_header() const {
  std::string variants;
  for (const NativeVariant& variant : native_variants("x86_64", {})) {
    if (variant.condition.empty()) continue;
    variants += "extern \"C\" const leapp_" + name_ + "_node* leapp_" + name_ + "_nodes_" +
                variant.name + "();\n";
  }
  return fill(kNodesHeader, {{"name", name_}, {"variants", variants}});
}

std::string PolicyText::buffers_struct() const {
  std::string text = "struct Buffers {\n";
  const auto add = [&](const Buffer& buffer) {
    const std::int64_t count = std::max<std::int64_t>(1, element_count(buffer.port->shape));
    text += "  alignas(64) " + std::string(element_type(buffer.port->dtype)) + " " + buffer.name +
            "[" + std::to_string(count) + "];\n";
  };
  for (const auto& [ref, buffer] : inputs_) add(buffer);
  for (const auto& [ref, buffer] : outputs_) add(buffer);
  if (schedule_) text += schedule_->members();
  return text + "};\n";
}

std::string PolicyText::tick_body() const {
  if (schedule_) return schedule_->tick();
  std::string text;
  const std::vector<std::size_t>& order = wiring_.order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Model& model = bundle_.models[order[i]];
    std::vector<std::string> members;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    for (std::size_t k = 0; k < model.inputs.size(); ++k) {
      members.push_back(input_buffer({order[i], k}).name);
      inputs.push_back("buffers." + members.back());
    }
    for (const Port& port : model.outputs) {
      outputs.push_back("buffers." + outputs_.at({model.name, port.name}).name);
    }
    text += "  {  // " + cpp_name(model.name) + "\n" +
            (noise_ ? noise_->draws(order[i], members, "tick_number", "    ") : "") +
            list_of(inputs, "const void* const", "inputs") +
            list_of(outputs, "void* const", "outputs") + "    if (const char* what = run(" +
            std::to_string(i) + ", inputs, outputs)) return what;\n  }\n";
  }
  if (!feedback_.empty()) text += "  // What the next tick reads.\n";
  for (const Feedback& feedback : feedback_) {
    const std::string to = "buffers." + inputs_.at(feedback.target).name;
    text += "  std::memcpy(" + to + ", buffers." + outputs_.at(feedback.source).name + ", sizeof(" +
            to + "));\n";
  }
  if (noise_) text += "  ++tick_number;\n";
  return text;
}

std::string PolicyText::reset_body() const {
  std::string text = "  std::memset(static_cast<void*>(&buffers), 0, sizeof(buffers));\n";
  std::size_t offset = 0;
  for (const auto& [member, value] : initials_) {
    text += "  std::memcpy(buffers." + member + ", leapp_" + name_ + "_initial + " +
            std::to_string(offset) + ", " + std::to_string(value->byte_size()) + ");\n";
    offset += value->byte_size();
  }
  if (schedule_) return text + schedule_->reset();
  return noise_ ? text + "  tick_number = 0;\n" : text;
}

std::string PolicyText::prepare_body() const {
  std::string text;
  const std::vector<std::size_t>& order = wiring_.order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Model& model = bundle_.models[order[i]];
    const std::string weights = model.external_data.empty() ? "nullptr" : weights_symbol(model);
    const std::string node = "nodes[" + std::to_string(i) + "]";
    text += "    " + node + ".prepare(" + weights + ", " + node + ".memory);\n";
  }
  return text;
}

std::string PolicyText::weights_symbol(const Model& model) const {
  return "leapp_" + name_ + "_weights_of_" + cpp_name(cpp_symbol(model.name));
}

std::string PolicyText::policy() const {
  const bool has_initial = !initial_bytes().empty();
  std::string objects =
      has_initial ? embedded("leapp_" + name_ + "_initial", name_ + "_initial.bin") : "";
  for (const Model& model : bundle_.models) {
    if (model.external_data.empty()) continue;
    objects += embedded(weights_symbol(model), cpp_symbol(model.name) + ".weights");
  }
  std::string choices;
  for (const NativeVariant& variant : native_variants("x86_64", {})) {
    if (variant.condition.empty()) continue;
    choices = "  if (" + variant.condition + ") return leapp_" + name_ + "_nodes_" + variant.name +
              "();\n" + choices;
  }
  std::string functions;
  for (const auto& [buffer, is_input] : ports()) {
    functions += span_function(*buffer, is_input, "Policy::") + " {\n  return " +
                 span_type(*buffer->port, is_input) + "(buffers." + buffer->name + ", " +
                 std::to_string(element_count(buffer->port->shape)) + ");\n}\n";
  }
  if (noise_) functions += noise_->definitions();
  std::string position = noise_ ? noise_->variables() : "";
  if (schedule_) {
    position += schedule_->position();
  } else if (noise_) {
    position += "std::int64_t tick_number = 0;  // of the next tick\n";
  }
  return fill(kPolicySource, {{"name", name_},
                              {"noise", noise_ ? "#include \"" + name_ + "_noise.h\"\n" : ""},
                              {"embedded", objects},
                              {"buffers", buffers_struct()},
                              {"position", position},
                              {"choices", choices},
                              {"prepare", prepare_body()},
                              {"functions", functions},
                              {"reset", reset_body()},
                              {"tick", tick_body()}});
}

std::string PolicyText::nodes() const {
  std::string sources;
  std::string rows;
  std::string memory;
  for (const std::size_t index : wiring_.order()) {
    const std::string symbol = cpp_symbol(bundle_.models[index].name);
    sources += "#define " + symbol + " LEAPP_NAMED(leapp_" + name_ + "_" + symbol +
               ", LEAPP_VARIANT)\n#include \"" + symbol + ".cpp\"\n";
    const std::string scope = symbol + "_source::";
    memory += "alignas(64) unsigned char memory_of_" + symbol + "[sizeof(" + scope + "Memory)];\n";
    rows += "    {" + scope + "model.prepare, " + scope + "model.run, " + scope +
            "model.errors, memory_of_" + symbol + "},\n";
  }
  return fill(kNodesSource,
              {{"name", name_}, {"sources", sources}, {"memory", memory}, {"rows", rows}});
}

std::string PolicyText::initial_bytes() const {
  std::string bytes;
  for (const auto& [member, value] : initials_) {
    bytes.append(static_cast<const char*>(value->data), value->byte_size());
  }
  return bytes;
}

}  // namespace leapp
