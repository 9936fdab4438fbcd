#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "base/check.h"
#include "base/folder_tree.h"

namespace leapp {
namespace {

std::filesystem::path system_folder() {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  return failed ? std::filesystem::path("/tmp") : folder;  // TMPDIR may name a missing directory
}

}  // namespace

TemporaryFolder::TemporaryFolder() : TemporaryFolder(system_folder()) {}

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent) {
  std::error_code ignored;  // mkdtemp() reports the error
  std::filesystem::create_directories(parent, ignored);
  std::string pattern = (parent / ".leapp-XXXXXX").string();
  const int failed = mkdtemp(pattern.data()) != nullptr ? 0 : errno;
  require(failed == 0, Code::kIo,
          parent.string() +
              ": could not create a directory there: " + std::generic_category().message(failed));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  remove_tree(path_);
}

}  // namespace leapp
