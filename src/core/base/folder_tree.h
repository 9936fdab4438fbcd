// A folder with everything below it.
//
// std::filesystem has remove_all and recursive_directory_iterator for this, and no source of ours
// may use them: the libtorch of some releases of PyTorch (2.7 is one) shows functions of an older
// libstdc++, which the system's takes for its own where Python loads torch first. Walks
// through folders then run half in one and half in the other, and crash. directory_iterator is ours
// alone and works.
#pragma once

#include <filesystem>
#include <system_error>

namespace leapp {

/// Removes `path` and what is below it; links are removed, never followed. What is not there is no
/// error. Ends at the first thing that cannot be removed and says why.
std::error_code remove_tree(const std::filesystem::path& path) noexcept;

}  // namespace leapp
