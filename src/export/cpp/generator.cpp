// Converts a graph to the text of its source.
#include <array>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/check.h"
#include "base/cpp_symbol.h"
#include "export/cpp/cpp_export.h"
#include "export/cpp/kernel_texts.h"
#include "export/cpp/op_context.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// Returns a string literal; characters that are not printable are octal.
std::string quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f || c == '"' || c == '\\' || c == '?') {
      std::array<char, 5> octal{};
      std::snprintf(octal.data(), octal.size(), "\\%03o", static_cast<unsigned>(byte));
      quoted += octal.data();
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

void generate_op(ValueMap& values, const ir::Op& op) {
  OpContext context(values, op);
  const Generator* generator = registry().find(op.signature->qualified_name());
  if (generator == nullptr) context.fail("there is no C++ for it");
  values.program().set_origin(context.origin());
  (*generator)(context);
}

// Inserts a file of kernels/ or a header of src/ after the files that it includes, each once.
// Collects the includes of the standard library.
void paste(const std::string& file, std::set<std::string>& done, std::set<std::string>& headers,
           std::string& text) {
  if (!done.insert(file).second) return;
  std::string own;
  std::string_view rest = kernel_text(file);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.rfind("#include \"", 0) == 0) {
      const std::filesystem::path included(line.substr(10, line.size() - 11));
      paste(included.filename().string(), done, headers, text);
    } else if (line.rfind("#include <", 0) == 0) {
      headers.insert(line);
    } else if (line != "#pragma once") {
      own += line + "\n";
    }
  }
  text += "// ---- " + file + " ----\n\n" + own + "\n";
}

std::string pointer_line(const Buffer& buffer, std::size_t port) {
  const std::string type = type_text(buffer.dtype);
  const bool is_read = buffer.kind == Buffer::Kind::kInput || buffer.kind == Buffer::Kind::kWeight;
  const std::string whole = (is_read ? "const " : "") + type + "*";
  std::string from;
  switch (buffer.kind) {
    case Buffer::Kind::kInput:
      from = "static_cast<" + whole + ">(inputs[" + std::to_string(port) + "])";
      break;
    case Buffer::Kind::kOutput:
      from = "static_cast<" + whole + ">(outputs[" + std::to_string(port) + "])";
      break;
    case Buffer::Kind::kWeight:
      from = "reinterpret_cast<" + whole + ">(m.weights + " + std::to_string(buffer.offset) + ")";
      break;
    case Buffer::Kind::kScratch:
      from = "reinterpret_cast<" + whole + ">(m.scratch + " + std::to_string(buffer.offset) + ")";
      break;
  }
  return "  " + whole + " const " + buffer.name + " = " + from + ";  // " +
         to_string(buffer.shape) +
         (buffer.comment.empty() ? "" : " " + in_comment(buffer.comment)) + "\n";
}

std::string memory_struct(const Program& program) {
  std::string text = "struct Memory {\n";
  if (!program.weights().empty()) text += "  const unsigned char* weights;\n";
  for (const Program::Packed& packed : program.packed()) {
    text += "  " + packed.type + " " + packed.name + ";\n";
  }
  if (program.scratch_bytes() > 0) {
    text += "  alignas(" + std::to_string(kAlignment) + ") unsigned char scratch[" +
            std::to_string(program.scratch_bytes()) + "];\n";
  }
  return text + "};\n\n";
}

std::string prepare_function(const Program& program) {
  const bool has_weights = !program.weights().empty();
  std::string text = std::string("void prepare(") + (has_weights ? "" : "[[maybe_unused]] ") +
                     "const void* weights, void* memory) {\n" +
                     "  Memory& m = *new (memory) Memory;\n";
  if (has_weights) text += "  m.weights = static_cast<const unsigned char*>(weights);\n";
  if (!has_weights && program.packed().empty()) text += "  static_cast<void>(m);\n";
  std::set<BufferId> named;
  for (const Program::Packed& packed : program.packed()) {
    std::string arguments;
    for (const BufferId id : packed.weights) {
      arguments += arguments.empty() ? "" : ", ";
      if (id == kNoBuffer) {
        arguments += "nullptr";
        continue;
      }
      if (named.insert(id).second) text += pointer_line(program.buffer(id), 0);
      arguments += program.buffer(id).name;
    }
    text += "  m." + packed.name + ".prepare(" + arguments + ");\n";
  }
  return text + "}\n\n";
}

std::string run_function(const Program& program) {
  std::string body;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  bool uses_memory = !program.packed().empty();
  for (const Buffer& buffer : program.buffers()) {
    std::size_t port = 0;
    if (buffer.kind == Buffer::Kind::kInput) port = inputs++;
    if (buffer.kind == Buffer::Kind::kOutput) port = outputs++;
    if (buffer.first < 0) continue;
    uses_memory |= buffer.kind == Buffer::Kind::kWeight || buffer.kind == Buffer::Kind::kScratch;
    body += pointer_line(buffer, port);
  }
  const bool may_fail = !program.errors().empty();
  if (may_fail) body += "  Status status;\n";
  for (const std::string& statement : program.statements()) body += "\n" + statement;
  const std::string memory = uses_memory ? "  Memory& m = *static_cast<Memory*>(memory);\n" : "";
  return "std::int32_t run([[maybe_unused]] const void* const* inputs,\n"
         "                 [[maybe_unused]] void* const* outputs, [[maybe_unused]] void* memory) "
         "{\n" +
         memory + body + "  return " + (may_fail ? "status.value" : "0") + ";\n}\n\n";
}

struct NamedPort {
  std::string name;
  ir::TensorType type;
};

std::string port_tables(const std::vector<NamedPort>& ports, const std::string& side) {
  std::string text;
  std::string rows;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto& [name, type] = ports[i];
    std::string dims = "nullptr";
    if (!type.shape.empty()) {
      dims = side + std::to_string(i) + "_dims";
      std::string list = to_string(type.shape);
      text +=
          "constexpr std::int64_t " + dims + "[] = {" + list.substr(1, list.size() - 2) + "};\n";
    }
    const std::size_t bytes =
        static_cast<std::size_t>(element_count(type.shape)) * size_of(type.dtype);
    rows += "    {" + quoted(name) + ", \"" + std::string(name_of(type.dtype)) + "\", " + dims +
            ", " + std::to_string(type.shape.size()) + ", " + std::to_string(bytes) + "},\n";
  }
  if (ports.empty()) return text;
  return text + "constexpr leapp_cpp_port " + side + "_ports[] = {\n" + rows + "};\n";
}

std::string table(const ir::Graph& graph, const std::string& node, const Program& program) {
  std::vector<NamedPort> inputs;
  std::vector<NamedPort> outputs;
  for (const ir::ValueId id : graph.inputs()) {
    inputs.push_back({graph.value(id).name, graph.type(id)});
  }
  for (const ir::Graph::Output& output : graph.outputs()) {
    outputs.push_back({output.name, graph.type(output.value)});
  }
  std::string text = port_tables(inputs, "input") + port_tables(outputs, "output");
  if (!program.errors().empty()) {
    text += "constexpr const char* errors[] = {\n";
    for (const std::string& error : program.errors()) text += "    " + quoted(error) + ",\n";
    text += "};\n";
  }
  const auto pointer = [](bool is_there, const char* name) {
    return std::string(is_there ? name : "nullptr");
  };
  return text + "constexpr leapp_cpp_model model = {\n    LEAPP_CPP_ABI,\n    " + quoted(node) +
         ",\n    " + pointer(!inputs.empty(), "input_ports") + ",\n    " +
         std::to_string(inputs.size()) + ",\n    " + pointer(!outputs.empty(), "output_ports") +
         ",\n    " + std::to_string(outputs.size()) + ",\n    " +
         std::to_string(program.weights().size()) + ",\n    sizeof(Memory),\n    " +
         std::to_string(kAlignment) + ",\n    " + pointer(!program.errors().empty(), "errors") +
         ",\n    " + std::to_string(program.errors().size()) + ",\n    prepare,\n    run,\n};\n\n";
}

std::string source_of(const ir::Graph& graph, const std::string& node, const Program& program) {
  std::set<std::string> done;
  std::set<std::string> headers = {"#include <new>"};
  std::string kernels;
  paste("numbers.h", done, headers, kernels);
  for (const std::string& file : program.kernels()) paste(file, done, headers, kernels);
  std::string includes;
  for (const std::string& header : headers) includes += header + "\n";
  const std::string symbol = cpp_symbol(node);
  return "// Node '" + in_comment(node) +
         "', generated by LEAPP. Compile as C++20; no library is needed.\n" + includes + "\n" +
         std::string(kernel_text("cpp_model.h")) + "\nnamespace " + symbol +
         "_source {\nnamespace {\n\n" + kernels + "// ---- the model ----\n\n" +
         memory_struct(program) + prepare_function(program) + run_function(program) +
         table(graph, node, program) + "}  // namespace\n}  // namespace " + symbol +
         "_source\n\nextern \"C\" const leapp_cpp_model* " + symbol + "();\n" +
         "extern \"C\" const leapp_cpp_model* " + symbol + "() { return &" + symbol +
         "_source::model; }\n";
}

}  // namespace

CppSource generate(const ir::Graph& graph, const std::string& node, WeightFormat weights) {
  Program program(weights);
  ValueMap values(graph, program);
  for (const ir::Op& op : graph.ops()) generate_op(values, op);
  values.finish();
  program.plan();
  return {source_of(graph, node, program), program.weights()};
}

bool can_generate(std::string_view qualified_name) {
  return registry().find(std::string(qualified_name)) != nullptr;
}

std::vector<std::string> generated_ops() {
  return registry().names();
}

}  // namespace leapp::cpp_export
