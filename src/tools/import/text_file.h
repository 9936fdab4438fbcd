// A small text file in memory.
#pragma once

#include <filesystem>
#include <string>

namespace leapp::importing {

/// The whole of it. Throws kNotFound where there is none, kIo where it cannot be read or is larger
/// than a YAML file for a policy ever is.
std::string read_text(const std::filesystem::path& path);

}  // namespace leapp::importing
