#include "base/folder_tree.h"

#include <ftw.h>

#include <cerrno>
#include <cstdio>

namespace leapp {
namespace {

constexpr int kOpenFolders = 16;  // deeper directories are closed and opened again

int remove_entry(const char* path, const struct stat*, int, struct FTW*) {
  return std::remove(path);
}

}  // namespace

std::error_code remove_tree(const std::filesystem::path& path) noexcept {
  if (::nftw(path.c_str(), remove_entry, kOpenFolders, FTW_DEPTH | FTW_PHYS) == 0) return {};
  return errno == ENOENT ? std::error_code() : std::error_code(errno, std::generic_category());
}

}  // namespace leapp
