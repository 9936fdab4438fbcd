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

/// Removes `path` and everything in it. Removes links, but never follows them. A missing path is
/// not an error. Stops at the first item that cannot be removed, and returns the reason.
std::error_code remove_tree(const std::filesystem::path& path) noexcept;

}  // namespace leapp
