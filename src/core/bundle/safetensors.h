// The safetensors format: named tensors in one file, a JSON header and then their bytes.
//
// Reads and writes the files of the Python package of that name. The reader trusts nothing: sizes,
// offsets and names are checked before a byte is taken from the file, and a tensor's bytes lie at
// an address aligned to 64 whatever the file did.
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

/// The tensors of one file, read into memory that this object owns; views live as long as it does.
/// Movable, not copyable; reading it from several threads is fine.
class LEAPP_EXPORT SafeTensors {
 public:
  using Metadata = std::map<std::string, std::string>;

  /// Creates an empty set of tensors.
  SafeTensors() = default;

  /// Throws Error: kNotFound, kIo, or kValue that begins "file: [B23]" when the content is unsound
  /// or its tensors have more than `max_bytes` bytes.
  static SafeTensors read(const std::filesystem::path& path,
                          std::uint64_t max_bytes = std::uint64_t{1} << 30);

  /// Does the same for a file already in memory, of which nothing is kept.
  static SafeTensors parse(std::string_view bytes, const std::string& file,
                           std::uint64_t max_bytes = std::uint64_t{1} << 30);

  /// Returns the tensors in the order of their bytes in the file.
  const std::vector<NamedTensorView>& tensors() const noexcept { return tensors_; }
  /// Returns the tensor of that name, or null. Linear.
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

/// Returns the bytes of a file that holds these tensors, largest elements first, then by name, so
/// that equal content gives equal files. Throws Error(kValue) for a repeated name or a type that
/// the format lacks (complex128).
LEAPP_EXPORT std::string to_safetensors(const std::vector<NamedTensorView>& tensors,
                                        const SafeTensors::Metadata& metadata = {});

/// Writes that to a file. Throws Error(kIo) when it cannot.
LEAPP_EXPORT void write_safetensors(const std::filesystem::path& path,
                                    const std::vector<NamedTensorView>& tensors,
                                    const SafeTensors::Metadata& metadata = {});

}  // namespace leapp
