// The files in a ZIP archive, as written by PyTorch: tensors are stored, source text is compressed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leapp::view {

struct ZipEntry {
  std::string name;
  std::string_view bytes;  ///< view of the archive, or of `inflated`
  std::shared_ptr<const std::string> inflated = {};
};

/// Returns the entries of an archive, in its order, or nothing if the bytes are not an archive: it
/// checks sizes and offsets. Archives of more than 4 GB are not read. Compressed entries stay empty
/// after their total exceeds 16 MB, because a small archive can declare any size.
std::optional<std::vector<ZipEntry>> read_zip(std::string_view bytes);

}  // namespace leapp::view
