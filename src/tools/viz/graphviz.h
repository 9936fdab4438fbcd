// The Graphviz library, opened for the first picture.
//
// It is not linked, because robots do not draw.
#pragma once

#include <string>

namespace leapp::viz {

/// Lays out and renders DOT text; `format` is "png" or "svg". Thread-safe, one picture at a time.
/// Throws Error(kIo) if the library is missing or reports an error.
std::string render(const std::string& dot, const std::string& format);

}  // namespace leapp::viz
