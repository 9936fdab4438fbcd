// The files in a ZIP archive, as PyTorch writes them: tensors as they are, source text compressed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leapp::view {

struct ZipEntry {
  std::string name;
  std::string_view bytes;  ///< into the archive, or into `inflated`
  std::shared_ptr<const std::string> inflated = {};
};

/// Returns the entries of an archive, in its order, or nothing when the bytes are no such archive:
/// sizes and offsets are checked against what is there. Archives of more than 4 GB are left alone.
/// What is compressed is left empty once all of it together would be more than 16 MB: a small
/// archive can claim to hold any amount.
std::optional<std::vector<ZipEntry>> read_zip(std::string_view bytes);

}  // namespace leapp::view
