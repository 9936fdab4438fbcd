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

/// One tensor as the header declares it; its bytes are [begin, end) of the file's data part.
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

/// The most bytes a header may have, as the format says.
inline constexpr std::uint64_t kMaxSafeTensorsHeader = 100'000'000;

/// Returns the format's name of a type; empty when it has none.
std::string_view safetensors_name(DType dtype) noexcept;

/// Parses and checks a header for a data part of `data_bytes`: offsets leave no hole and no
/// overlap, sizes agree with shapes. Throws Error(kValue) that begins "file: [B23]".
SafeTensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file);

/// Returns the header as text, filled up with spaces to a multiple of 8 bytes.
std::string write_safetensors_header(const SafeTensorsHeader& header);

}  // namespace leapp
