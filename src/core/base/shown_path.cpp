#include "base/shown_path.h"

#include <array>
#include <filesystem>
#include <system_error>

namespace leapp {
namespace {

// Directories in which Python and Debian install packages.
constexpr std::array<std::string_view, 2> kPackageRoots = {"/site-packages/", "/dist-packages/"};

std::string working_folder() {
  std::error_code ignored;  // may have been removed
  const std::string folder = std::filesystem::current_path(ignored).string();
  return folder == "/" ? "" : folder;
}

}  // namespace

std::string shown_path(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  for (const std::string_view root : kPackageRoots) {
    const std::size_t at = path.rfind(root);
    if (at != std::string_view::npos) return std::string(path.substr(at + root.size()));
  }
  const std::string folder = working_folder();
  if (!folder.empty() && path.starts_with(folder)) {
    const std::string_view rest = path.substr(folder.size());
    if (rest.empty() || rest == "/") return ".";
    if (rest.starts_with('/')) return std::string(rest.substr(1));
  }
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace leapp
