// The safetensors format: named tensors in one file, a JSON header and then their bytes.
//
// Reads and writes the files of the Python package of that name. The reader does not trust the
// file: it checks sizes, offsets and names before it uses them, and aligns the bytes of each tensor
// to 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/tensor_view.h"
#include "leapp/visibility.h"

namespace leapp {

/// A tensor and its name. The view points into memory owned by someone else.
struct NamedTensorView {
  std::string name;
  ConstTensorView tensor;
};

/// The tensors of one file, in memory that this object owns; views are valid as long as it lives.
/// Movable, not copyable; several threads may read it.
class LEAPP_EXPORT SafeTensors {
 public:
  using Metadata = std::map<std::string, std::string>;

  /// Creates an empty set of tensors.
  SafeTensors() = default;

  /// Throws Error: kNotFound, kIo, or kValue that begins "file: [B23]" if the content is invalid or
  /// its tensors have more than `max_bytes` bytes.
  static SafeTensors read(const std::filesystem::path& path,
                          std::uint64_t max_bytes = std::uint64_t{1} << 30);

  /// Reads a file that is already in memory, and keeps no reference to that memory.
  static SafeTensors parse(std::string_view bytes, const std::string& file,
                           std::uint64_t max_bytes = std::uint64_t{1} << 30);

  /// Returns the tensors in the order of the file.
  const std::vector<NamedTensorView>& tensors() const noexcept { return tensors_; }
  /// Returns the tensor of that name, or null. Takes linear time.
  const ConstTensorView* find(std::string_view name) const noexcept;
  const Metadata& metadata() const noexcept { return metadata_; }

 private:
  struct FreeBytes {
    void operator()(std::byte* bytes) const noexcept;
  };

  static SafeTensors load(std::istream& stream, std::uint64_t file_bytes, const std::string& file,
                          std::uint64_t max_bytes);

  std::vector<NamedTensorView> tensors_;
  Metadata metadata_;
  std::unique_ptr<std::byte[], FreeBytes> bytes_;
};

/// Returns the bytes of a file with these tensors, ordered by element size (largest first) and then
/// by name, so equal content gives equal files. Throws Error(kValue) for a repeated name or a type
/// that the format lacks (complex128).
LEAPP_EXPORT std::string to_safetensors(const std::vector<NamedTensorView>& tensors,
                                        const SafeTensors::Metadata& metadata = {});

/// Writes these tensors to a file. Throws Error(kIo) if that fails.
LEAPP_EXPORT void write_safetensors(const std::filesystem::path& path,
                                    const std::vector<NamedTensorView>& tensors,
                                    const SafeTensors::Metadata& metadata = {});

}  // namespace leapp
