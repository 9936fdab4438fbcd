// Writes the DOT text. Identifiers are numbers ("n3", "i0"), so names appear only in labels, where
// they are escaped.
#include <string_view>
#include <unordered_map>
#include <variant>

#include "base/check.h"
#include "base/utf8.h"
#include "viz/draw.h"

namespace leapp {
namespace {

constexpr const char* kInk = "#1B2733";
constexpr const char* kFaint = "#6B7C8C";
constexpr const char* kBorder = "#C3CEDA";
constexpr const char* kForward = "#4A5B6C";
constexpr const char* kFeedback = "#C0392B";
constexpr const char* kInput = "#1E7F4F";
constexpr const char* kOutput = "#B9640B";

/// Escapes text inside a label; truncates long text.
std::string escape(std::string_view text) {
  constexpr std::size_t kMaxCharacters = 48;
  std::string escaped;
  std::size_t offset = 0;
  for (std::size_t i = 0; offset < text.size(); ++i) {
    if (i == kMaxCharacters) return escaped + "&#8230;";
    const std::size_t start = offset;
    switch (next_code_point(text, offset)) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case ' ':
        escaped += "&#160;";
        break;  // a label with only spaces would be empty
      default:
        escaped += text.substr(start, offset - start);
    }
  }
  return escaped;
}

std::string font(const char* color, int size, const std::string& text) {
  return std::string("<FONT COLOR=\"") + color + "\" POINT-SIZE=\"" + std::to_string(size) + "\">" +
         text + "</FONT>";
}

std::string bold(const std::string& text) {
  return "<B>" + text + "</B>";
}

const char* backend_color(const std::optional<std::string>& backend) {
  if (backend == "onnx") return "#2563A8";
  if (backend == "jit") return "#C8501E";
  if (backend == "pt2") return "#7A3E9D";
  return kFaint;
}

/// Returns one side of a row: an input on the left, an output on the right, or nothing.
std::string port_cell(const std::vector<Port>& ports, std::size_t row, char side) {
  if (row >= ports.size()) return "<TD></TD>";
  const Port& port = ports[row];
  const std::string align = side == 'i' ? "LEFT" : "RIGHT";
  const std::string line_end = "<BR ALIGN=\"" + align + "\"/>";
  std::string cell = "<TD PORT=\"" + std::string(1, side) + std::to_string(row) + "\" ALIGN=\"" +
                     align + "\" BALIGN=\"" + align + "\">";
  cell += font(kInk, 12, bold(escape(port.name))) + line_end;
  cell += font(kFaint, 10, std::string(name_of(port.dtype)) + " " + to_string(port.shape));
  cell += line_end;
  if (port.semantics.kind && !port.semantics.kind->empty()) {
    cell += font(kFaint, 9, "<I>" + escape(*port.semantics.kind) + "</I>") + line_end;
  }
  return cell + "</TD>";
}

class DotWriter {
 public:
  DotWriter(const Bundle& bundle, const std::string& title) : bundle_(bundle), title_(title) {}

  std::string write() {
    text_ = "digraph bundle {\n";
    write_defaults();
    for (std::size_t i = 0; i < bundle_.models.size(); ++i) write_model(i);
    write_graph_ports("in", bundle_.pipeline.inputs, 'i', kInput, "#E6F4EC");
    write_graph_ports("out", bundle_.pipeline.outputs, 'o', kOutput, "#FCF0E2");
    write_wires(bundle_.pipeline.data_flow, false);
    write_wires(bundle_.pipeline.feedback_flow, true);
    return std::move(text_) + "}\n";
  }

 private:
  void line(const std::string& statement) { text_ += "  " + statement + ";\n"; }

  void write_defaults() {
    // Compressing the pixels takes most of the time, so the bitmap has about the resolution of a
    // screen, at most about 4000 pixels. The limits of the layout matter only for large pictures,
    // which would otherwise take minutes.
    line(
        "graph [rankdir=LR, bgcolor=\"white\", pad=0.3, nodesep=0.3, ranksep=0.9, dpi=96, "
        "size=\"40,40\", splines=spline, charset=\"UTF-8\", "
        "fontname=\"Helvetica,Arial,sans-serif\", " +
        std::string(bundle_.models.size() > 40 ? "nslimit=1, nslimit1=1, mclimit=0.2, " : "") +
        "labelloc=t, label=" + write_title() + "]");
    line("node [shape=plain, fontname=\"Helvetica,Arial,sans-serif\"]");
    line("edge [arrowsize=0.7, penwidth=1.4, color=\"" + std::string(kForward) + "\"]");
  }

  std::string write_title() const {
    if (title_.empty()) return "\"\"";
    std::string facts =
        std::to_string(bundle_.models.size()) + (bundle_.models.size() == 1 ? " node" : " nodes");
    for (const auto& [key, value] : bundle_.pipeline.configs) {
      if (key == "frequency") facts += describe_frequency(value);
    }
    if (!bundle_.pipeline.feedback_flow.empty()) facts += ", feedback dashed";
    return "<<TABLE BORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"3\"><TR><TD>" +
           font(kInk, 16, bold(escape(title_))) + "</TD></TR><TR><TD>" + font(kFaint, 11, facts) +
           "</TD></TR></TABLE>>";
  }

  static std::string describe_frequency(const Metadata& value) {
    if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) {
      return ", " + std::to_string(*integer) + " Hz";
    }
    const auto* const number = std::get_if<double>(&value.value);
    if (!number) return {};
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), ", %g Hz", *number);
    return buffer;
  }

  void write_model(std::size_t index) {
    const Model& model = bundle_.models[index];
    order_[model.name] = index;
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      inputs_[model.name + "/" + model.inputs[i].name] = anchor(index, 'i', i);
    }
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      outputs_[model.name + "/" + model.outputs[i].name] = anchor(index, 'o', i);
    }
    const std::string badge = model.backend ? escape(*model.backend) : "no&#160;model";
    std::string label =
        "<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"6\" "
        "STYLE=\"ROUNDED\" BGCOLOR=\"white\" COLOR=\"" +
        std::string(kBorder) + "\">";
    label += "<TR><TD ALIGN=\"LEFT\">" + font(kInk, 14, bold(escape(model.name))) +
             "</TD><TD ALIGN=\"RIGHT\">" + font(backend_color(model.backend), 11, bold(badge)) +
             "</TD></TR>" + schedule_row(model.name) + "<HR/>";
    const std::size_t rows = std::max(model.inputs.size(), model.outputs.size());
    for (std::size_t row = 0; row < rows; ++row) {
      label +=
          "<TR>" + port_cell(model.inputs, row, 'i') + port_cell(model.outputs, row, 'o') + "</TR>";
    }
    line("n" + std::to_string(index) + " [label=<" + label + "</TABLE>>]");
  }

  std::string schedule_row(const std::string& node) const {
    for (const NodeSchedule& schedule : bundle_.pipeline.schedule) {
      if (schedule.node != node) continue;
      return "<TR><TD ALIGN=\"LEFT\" COLSPAN=\"2\">" +
             font(kFaint, 10, escape(to_string(schedule))) + "</TD></TR>";
    }
    return {};
  }

  static std::string anchor(std::size_t model, char side, std::size_t port) {
    return "n" + std::to_string(model) + ":" + side + std::to_string(port) +
           (side == 'i' ? ":w" : ":e");
  }

  /// Writes the pipeline's own inputs or outputs, each as a box connected to its port.
  void write_graph_ports(const std::string& prefix, const std::vector<NodePorts>& nodes, char side,
                         const char* color, const char* fill) {
    std::size_t index = 0;
    std::string ids;
    for (const NodePorts& node : nodes) {
      for (const std::string& port : node.ports) {
        const std::string id = prefix + std::to_string(index++);
        ids += " " + id + ";";
        line(id + " [label=<" + font(color, 12, bold(escape(port))) +
             ">, shape=box, style=\"rounded,filled\", color=\"" + color + "\", fillcolor=\"" +
             fill + "\", height=0.35, margin=\"0.14,0.05\"]");
        const std::string at = find(side == 'i' ? inputs_ : outputs_, node.node + "/" + port);
        line((side == 'i' ? id + ":e -> " + at : at + " -> " + id + ":w") + " [color=\"" + color +
             "\"]");
      }
    }
    if (side == 'o' && !ids.empty()) text_ += "  {rank=sink;" + ids + "}\n";
  }

  void write_wires(const std::vector<Wire>& wires, bool feedback) {
    for (const Wire& wire : wires) {
      for (const PortRef& target : wire.targets) {
        const std::string from = find(outputs_, to_string(wire.source));
        const std::string to = find(inputs_, to_string(target));
        if (feedback) {
          write_feedback(from, to, order_.at(wire.source.node) > order_.at(target.node));
        } else {
          line(from + " -> " + to);
        }
      }
    }
  }

  /// Writes a wire to an earlier node in reverse direction, so that the layout leaves space for it.
  void write_feedback(const std::string& from, const std::string& to, bool backwards) {
    const std::string style = "style=dashed, color=\"" + std::string(kFeedback) + "\"]";
    line(backwards ? to + " -> " + from + " [dir=back, " + style
                   : from + " -> " + to + " [constraint=false, " + style);
  }

  static const std::string& find(const std::unordered_map<std::string, std::string>& anchors,
                                 const std::string& name) {
    const auto found = anchors.find(name);
    require(found != anchors.end(), Code::kWrongValue,
            "cannot draw this bundle: there is no port " + quote_for_message(name));
    return found->second;
  }

  const Bundle& bundle_;
  const std::string& title_;
  std::string text_;
  std::unordered_map<std::string, std::size_t> order_;
  std::unordered_map<std::string, std::string> inputs_;
  std::unordered_map<std::string, std::string> outputs_;
};

}  // namespace

std::string to_dot(const Bundle& bundle, const std::string& title) {
  return DotWriter(bundle, title).write();
}

}  // namespace leapp
