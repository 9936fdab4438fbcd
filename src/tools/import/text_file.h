// A small text file in memory.
#pragma once

#include <filesystem>
#include <string>

namespace leapp::importing {

/// Returns the whole text. Throws kNotFound if there is no file, kIo if it cannot be read or is
/// larger than any YAML file of a policy.
std::string read_text(const std::filesystem::path& path);

}  // namespace leapp::importing
