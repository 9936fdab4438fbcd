// A record that is added to a TorchScript file.
#pragma once

#include <filesystem>
#include <string>

namespace leapp::translate {

/// Returns whether a TorchScript file that was checked contains a translation.
bool has_translation(const std::filesystem::path& file);

/// Adds an ONNX model to a TorchScript file as its translation, in place of one that it has. All
/// other records keep their bytes. A weight whose bytes are a record of the file is not stored
/// again. The file is replaced as a whole. Throws Error: kNotTranslated for a file of a format that
/// libtorch no longer writes, kIo if writing fails.
void add_translation(const std::filesystem::path& file, const std::string& onnx);

}  // namespace leapp::translate
