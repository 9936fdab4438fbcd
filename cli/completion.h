// Completion of the command line in a shell, out of the parser's own tree of commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace leapp::cli {

/// Returns a script for `shell`, "bash", "zsh" or "fish", that completes the commands and options
/// of `program` and, in other places, files.
std::string completion_script(const CLI::App& program, const std::string& shell);

}  // namespace leapp::cli
