#include <sstream>

#include "ir/graph.h"

namespace leapp::ir {
namespace {

std::string type_text(const TensorType& type) {
  std::string text = std::string(name_of(type.dtype)) + to_string(type.shape);
  return type.device == "cpu" ? text : text + "@" + type.device;
}

std::string value_text(const Graph& graph, ValueId id) {
  if (id == kNoValue) return "None";
  const Value& value = graph.value(id);
  switch (value.kind) {
    case ValueKind::kInput:
      return "%" + value.name;
    case ValueKind::kConstant:
      return "@" + (value.name.empty() ? std::to_string(value.index) : value.name);
    case ValueKind::kResult:
      break;
  }
  return "%" + std::to_string(id);
}

struct ArgumentPrinter {
  const Graph& graph;
  std::ostringstream& out;

  void operator()(std::monostate) const { out << "None"; }
  void operator()(ValueRef ref) const { out << value_text(graph, ref.id); }
  void operator()(bool flag) const { out << (flag ? "True" : "False"); }
  void operator()(std::int64_t number) const { out << number; }
  void operator()(double number) const { out << number; }
  void operator()(std::complex<double> number) const {
    out << number.real() << "+" << number.imag() << "j";
  }
  void operator()(const std::string& text) const { out << '"' << text << '"'; }
  void operator()(DType dtype) const { out << name_of(dtype); }
  void operator()(const Device& device) const { out << device.name; }
  template <typename T>
  void operator()(const std::vector<T>& items) const {
    out << "[";
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out << ", ";
      (*this)(static_cast<T>(items[i]));
    }
    out << "]";
  }
};

}  // namespace

std::string to_text(const Graph& graph) {
  std::ostringstream out;
  out << "graph(";
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const ValueId id = graph.inputs()[i];
    out << (i > 0 ? ", " : "") << value_text(graph, id) << ": " << type_text(graph.type(id));
  }
  out << "):\n";
  for (const Op& op : graph.ops()) {
    out << "  ";
    bool first = true;
    for (const Result& result : op.results) {
      out << (first ? "" : ", ") << (result.is_list ? "[" : "");
      for (std::size_t i = 0; i < result.values.size(); ++i) {
        const ValueId id = result.values[i];
        out << (i > 0 ? ", " : "") << value_text(graph, id);
        if (id != kNoValue) out << ": " << type_text(graph.type(id));
      }
      out << (result.is_list ? "]" : "");
      first = false;
    }
    out << " = " << op.signature->qualified_name() << "(";
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      out << (i > 0 ? ", " : "") << op.signature->parameters[i].name << "=";
      std::visit(ArgumentPrinter{graph, out}, op.arguments[i]);
    }
    out << ")";
    if (op.source.known()) out << "  # " << op.source.to_string();
    out << "\n";
  }
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (graph.is_constant(id)) {
      out << "  " << value_text(graph, id) << ": " << type_text(graph.type(id)) << "\n";
    }
  }
  out << "  return ";
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Graph::Output& output = graph.outputs()[i];
    out << (i > 0 ? ", " : "") << output.name << "=" << value_text(graph, output.value);
  }
  out << "\n";
  return out.str();
}

}  // namespace leapp::ir
