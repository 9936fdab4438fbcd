// Reads any bytes as an ONNX model: the result is a model or an Error. A model can be written, read
// and written again, with the same bytes.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "leapp/error.h"
#include "onnx/reader.h"
#include "onnx/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parse = [](const std::string& bytes) {
    return leapp::onnx::parse_model(leapp::onnx::Bytes::copy_of(bytes.data(), bytes.size()),
                                    "fuzz.onnx");
  };
  std::string written;
  try {
    written = leapp::onnx::serialize(parse({reinterpret_cast<const char*>(data), size}));
  } catch (const leapp::Error&) {
    return 0;
  }
  if (leapp::onnx::serialize(parse(written)) != written) std::abort();
  return 0;
}
