// The drawing of an exported pipeline, made while its models are written.
#pragma once

#include <filesystem>
#include <future>
#include <string>

#include "leapp/bundle.h"

namespace leapp::compile {

/// Draws the pipeline into `staged`/`name`.png in another thread, if `wanted`. The result is the
/// reason for a missing drawing, or empty. `target` is the final directory of the bundle.
std::future<std::string> draw_beside(const Bundle& bundle, bool wanted,
                                     const std::filesystem::path& staged,
                                     const std::filesystem::path& target, const std::string& name);

}  // namespace leapp::compile
