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

/// Returns the entries of an archive, in its order, or nothing if the bytes are not an archive:
/// sizes and offsets are checked. Archives of more than 4 GB are not read. Compressed entries stay
/// empty once their total exceeds 16 MB: a small archive can claim to hold any amount.
std::optional<std::vector<ZipEntry>> read_zip(std::string_view bytes);

}  // namespace leapp::view
