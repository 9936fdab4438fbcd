// The JSON header of a safetensors file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/dtype.h"

namespace leapp {

/// One tensor as declared in the header; its bytes are [begin, end) of the data part.
struct SafeTensorEntry {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafeTensorsHeader {
  std::vector<SafeTensorEntry> entries;  ///< by offset
  std::map<std::string, std::string> metadata;
};

/// The maximum number of header bytes that the format allows.
inline constexpr std::uint64_t kMaxSafeTensorsHeader = 100'000'000;

/// Returns the format's name of a type, or an empty string if it has none.
std::string_view safetensors_name(DType dtype) noexcept;

/// Parses and checks a header for a data part of `data_bytes`: offsets leave no gap and do not
/// overlap, and sizes agree with shapes. Throws Error(kValue) that begins "file: [B23]".
SafeTensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file);

/// Returns the header as text, padded with spaces to a multiple of 8 bytes.
std::string write_safetensors_header(const SafeTensorsHeader& header);

}  // namespace leapp
