// The Graphviz library, opened when the first picture is asked for.
//
// It is not linked: a robot that never draws needs none of it.
#pragma once

#include <string>

namespace leapp::viz {

/// Lays out and renders DOT text; `format` is "png" or "svg". Thread-safe, one picture at a time.
/// Throws Error(kIo) when the library is missing or refuses.
std::string render(const std::string& dot, const std::string& format);

}  // namespace leapp::viz
