// Writes ONNX models. Weights are written directly from their shared bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"
#include "onnx/model.h"

namespace leapp::onnx {

/// Weights with more bytes than this are written to a separate file, because protobuf is limited to
/// 2 GB.
inline constexpr std::uint64_t kMaxInlineBytes = 1'500'000'000;

struct WriteOptions {
  bool external_data = false;  ///< write weights to a separate file, whatever their size
  std::uint64_t max_inline_bytes = kMaxInlineBytes;
};

/// Returns the model as one string, with inline weights. For models that an engine loads from
/// memory.
LEAPP_EXPORT std::string serialize(const Model& model);

/// Writes the model to `path` and, if needed, its weights to `path` + ".data", each aligned to 64
/// bytes so that engines can map them. Returns the written files, relative to the directory of
/// `path`, the model first, with checksums (no MD5 of external data). Throws an Error of kind kIo
/// that names the file.
LEAPP_EXPORT std::vector<FileEntry> write_model(const Model& model,
                                                const std::filesystem::path& path,
                                                const WriteOptions& options = {});

}  // namespace leapp::onnx
