// Writes ONNX models. Weights go from their shared bytes straight into the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"
#include "onnx/model.h"

namespace leapp::onnx {

/// Above this many bytes of weights they leave the model file: protobuf itself ends at 2 GB.
inline constexpr std::uint64_t kMaxInlineBytes = 1'500'000'000;

struct WriteOptions {
  bool external_data = false;  ///< write weights to a separate file, whatever their size
  std::uint64_t max_inline_bytes = kMaxInlineBytes;
};

/// Returns the model as one string, weights inline. For models handed to an engine in memory.
LEAPP_EXPORT std::string serialize(const Model& model);

/// Writes the model to `path` and, where needed, its weights to `path` + ".data", each aligned to
/// 64 bytes so that engines can map them. Returns the files written, relative to the folder of
/// `path`, the model first; their checksums are taken on the way (no MD5 of external data). Throws
/// an Error of kind kIo that names the file.
LEAPP_EXPORT std::vector<FileEntry> write_model(const Model& model,
                                                const std::filesystem::path& path,
                                                const WriteOptions& options = {});

}  // namespace leapp::onnx
