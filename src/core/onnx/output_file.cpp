#include "onnx/output_file.h"

#include <string>
#include <utility>

#include "base/check.h"

namespace leapp::onnx {

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), stream_(path_, std::ios::binary | std::ios::trunc) {
  check("open");
}

void OutputFile::write(std::string_view bytes) {
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  check("write");
  written_ += bytes.size();
}

void OutputFile::close() {
  stream_.close();
  check("write");
}

void OutputFile::check(const char* what) const {
  require(!stream_.fail(), Code::kIo,
          std::string("cannot ") + what + " the ONNX file " + path_.string() +
              ": check that the directory exists, is writable and has space left");
}

}  // namespace leapp::onnx
