// A picture of a bundle: nodes with their ports, wires, what comes in and what goes out.
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
/// solid, feedback wires dashed. Names may hold anything.
LEAPP_EXPORT std::string to_dot(const Bundle& bundle, const std::string& title = {});

/// Returns the picture as SVG text.
LEAPP_EXPORT std::string to_svg(const Bundle& bundle, const std::string& title = {});

/// Writes the picture to a .png, .svg or .dot file. Thread-safe; drawings wait for each other, as
/// the Graphviz library does not bear two at once. Throws Error: kValue for another ending or a
/// bundle too large to be drawn, kIo when the file cannot be written or drawing fails.
LEAPP_EXPORT void draw(const Bundle& bundle, const std::filesystem::path& path,
                       const std::string& title = {});

/// Opens Graphviz and its fonts ahead of the first picture. Throws Error(kIo) as draw() does.
LEAPP_EXPORT void preload_graphviz();

}  // namespace leapp
