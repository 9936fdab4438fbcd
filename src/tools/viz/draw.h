// A picture of a bundle: nodes with their ports, wires, and the pipeline's inputs and outputs.
#pragma once

#include <filesystem>
#include <string>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Limits of models and wires in a drawing: a larger layout would take minutes and be unreadable.
inline constexpr std::size_t kMaxDrawnModels = 200;
inline constexpr std::size_t kMaxDrawnWires = 1000;

/// Returns the picture in Graphviz's language; equal bundles give equal text. Forward wires are
/// solid, feedback wires dashed. Names may contain any characters.
LEAPP_EXPORT std::string to_dot(const Bundle& bundle, const std::string& title = {});

/// Returns the picture as SVG text.
LEAPP_EXPORT std::string to_svg(const Bundle& bundle, const std::string& title = {});

/// Writes the picture to a .png, .svg or .dot file. Thread-safe; only one drawing is made at a
/// time, because the Graphviz library is not reentrant. Throws Error: kValue for another suffix or
/// a bundle that is too large, kIo if drawing or writing fails.
LEAPP_EXPORT void draw(const Bundle& bundle, const std::filesystem::path& path,
                       const std::string& title = {});

/// Opens Graphviz and its fonts before the first picture. Throws Error(kIo) like draw().
LEAPP_EXPORT void preload_graphviz();

}  // namespace leapp
