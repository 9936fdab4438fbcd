// Completion scripts for shells, generated from the parser's commands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace leapp::cli {

/// Returns a script for `shell`, "bash", "zsh" or "fish", that completes the commands and options
/// of `program`, and otherwise files.
std::string completion_script(const CLI::App& program, const std::string& shell);

}  // namespace leapp::cli
