#include "base/shown_path.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace leapp {
namespace {

// Where Python and Debian install packages.
constexpr std::array<std::string_view, 2> kPackageRoots = {"/site-packages/", "/dist-packages/"};

std::string working_folder() {
  std::error_code none;  // it may have been removed
  const std::string folder = std::filesystem::current_path(none).string();
  return folder == "/" ? "" : folder;
}

std::string shown_path(std::string_view path, const std::string& folder) {
  if (!path.starts_with('/')) return std::string(path);
  for (const std::string_view root : kPackageRoots) {
    const std::size_t at = path.rfind(root);
    if (at != std::string_view::npos) return std::string(path.substr(at + root.size()));
  }
  if (!folder.empty() && path.starts_with(folder)) {
    const std::string_view rest = path.substr(folder.size());
    if (rest.empty() || rest == "/") return ".";
    if (rest.starts_with('/')) return std::string(rest.substr(1));
  }
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

bool ends_path(char c) {
  constexpr std::string_view kEnds = " \t\n\"'`,;()[]{}<>|";
  return kEnds.find(c) != std::string_view::npos;
}

// The end of the absolute path that begins at a '/', or `at` where none does: "policy/obs", "1 / 2"
// and "https://host" are no paths.
std::size_t path_end(std::string_view text, std::size_t at, const std::string& folder) {
  const bool begins = at == 0 || ends_path(text[at - 1]) || text[at - 1] == '=';
  const std::size_t next = at + 1;
  if (!begins || next == text.size() || ends_path(text[next]) || text[next] == '/') return at;
  std::size_t end = at;
  // The working folder may have a name with spaces.
  if (!folder.empty() && text.substr(at).starts_with(folder)) end += folder.size();
  while (end < text.size() && !ends_path(text[end])) ++end;
  return end;
}

}  // namespace

std::string shown_path(std::string_view path) {
  return shown_path(path, working_folder());
}

std::string with_shown_paths(std::string_view text) {
  const std::string folder = working_folder();
  std::string shown;
  std::size_t done = 0;
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at)) {
    const std::size_t end = path_end(text, at, folder);
    if (end > at) {
      shown.append(text, done, at - done);
      shown += shown_path(text.substr(at, end - at), folder);
      done = end;
    }
    at = std::max(end, at + 1);
  }
  return shown.append(text, done);
}

}  // namespace leapp
