// Recursive operations on directories.
//
// Our sources must not use std::filesystem::remove_all and recursive_directory_iterator: the
// libtorch of some PyTorch releases (2.7, for example) exports functions of an older libstdc++. If
// Python loads torch first, recursive iteration mixes both versions and crashes. directory_iterator
// is not affected.
#pragma once

#include <filesystem>
#include <system_error>

namespace leapp {

/// Removes `path` and what is below it; links are removed, never followed. What is not there is no
/// error. Ends at the first thing that cannot be removed and says why.
std::error_code remove_tree(const std::filesystem::path& path) noexcept;

}  // namespace leapp
