#include "viz/draw.h"

#include <utility>

#include "base/check.h"
#include "bundle/staging.h"
#include "viz/graphviz.h"

namespace leapp {
namespace {

void check_size(const Bundle& bundle) {
  std::size_t wires = 0;
  for (const auto* const flow : {&bundle.pipeline.data_flow, &bundle.pipeline.feedback_flow}) {
    for (const Wire& wire : *flow) wires += wire.targets.size();
  }
  require(bundle.models.size() <= kMaxDrawnModels && wires <= kMaxDrawnWires, Code::kWrongValue,
          "this bundle has " + std::to_string(bundle.models.size()) + " nodes and " +
              std::to_string(wires) + " wires; the limit for pictures is " +
              std::to_string(kMaxDrawnModels) + " nodes and " + std::to_string(kMaxDrawnWires) +
              " wires");
}

std::string render(const Bundle& bundle, const std::string& title, const std::string& ending) {
  if (ending == ".dot") return to_dot(bundle, title);
  require(ending == ".png" || ending == ".svg", Code::kWrongValue,
          "cannot draw to a file ending in '" + ending + "'; expected .png, .svg or .dot");
  check_size(bundle);
  return viz::render(to_dot(bundle, title), ending.substr(1));
}

}  // namespace

std::string to_svg(const Bundle& bundle, const std::string& title) {
  return render(bundle, title, ".svg");
}

void draw(const Bundle& bundle, const std::filesystem::path& path, const std::string& title) {
  write_bytes(path, render(bundle, title, path.extension().string()));
}

void preload_graphviz() {
  // Text in every style, so that each font is looked up.
  Port port;
  port.name = "port";
  port.semantics.kind = "kind";
  Bundle bundle;
  bundle.models.emplace_back().inputs.push_back(std::move(port));
  viz::render(to_dot(bundle, "title"), "png");
}

}  // namespace leapp
