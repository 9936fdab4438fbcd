#include "translate/archive.h"

#include <caffe2/serialize/inline_container.h>

#include <cstring>
#include <fstream>
#include <map>
#include <system_error>
#include <vector>

#include "base/check.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "runtime/engines/translation.h"

namespace leapp::translate {
namespace {

using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::PyTorchStreamWriter;

constexpr std::size_t kWorthSharing = 64;       // smaller weights than their reference
constexpr std::size_t kWorthCompressing = 200;  // libtorch's own limit for source files

// Records that the writer makes itself.
bool is_made_by_writer(const std::string& record) {
  return record == "version" || record == caffe2::serialize::kSerializationIdRecordName ||
         record == kTranslationRecord;
}

bool is_weight(const std::string& record) {
  return record.starts_with("data/") || record.starts_with("constants/");
}

struct Record {
  std::string name;
  at::DataPtr data;
  std::size_t size = 0;
};

std::vector<Record> read_records(PyTorchStreamReader& reader) {
  std::vector<Record> records;
  for (const std::string& name : reader.getAllRecords()) {
    if (is_made_by_writer(name)) continue;
    auto [data, size] = reader.getRecord(name);
    records.push_back({name, std::move(data), size});
  }
  return records;
}

// Refers to the records that contain the weights of the model.
std::string share_weights(const std::string& onnx, const std::vector<Record>& records) {
  onnx::Model model = onnx::parse_model(onnx::Bytes::borrowed(std::as_bytes(std::span(onnx))),
                                        "the translation to ONNX");
  std::multimap<std::size_t, const Record*> by_size;
  for (const Record& record : records) {
    if (is_weight(record.name) && record.size >= kWorthSharing) {
      by_size.emplace(record.size, &record);
    }
  }
  for (onnx::Tensor& weight : model.graph.initializers) {
    const auto [first, last] = by_size.equal_range(weight.raw.size);
    for (auto each = first; each != last; ++each) {
      const Record& record = *each->second;
      if (std::memcmp(record.data.get(), weight.raw.data.get(), record.size) != 0) continue;
      weight.external = onnx::ExternalData{record.name, 0, record.size};
      weight.raw = {};
      break;
    }
  }
  return onnx::serialize(model);
}

bool is_compressed_by_libtorch(const Record& record) {
  return (record.name.ends_with(".py") || record.name.ends_with(".debug_pkl")) &&
         record.size > kWorthCompressing;
}

void write_archive(const std::vector<Record>& records, std::uint64_t version,
                   const std::string& onnx, std::ofstream& stream) {
  // libtorch's writer ends the process if writing fails, so this callback always reports success.
  PyTorchStreamWriter writer([&](const void* bytes, std::size_t size) {
    if (stream) {
      stream.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    }
    return size;
  });
  writer.setMinVersion(version);
  for (const Record& record : records) {
    writer.writeRecord(record.name, record.data.get(), record.size,
                       is_compressed_by_libtorch(record));
  }
  writer.writeRecord(kTranslationRecord, onnx.data(), onnx.size());
  writer.writeEndOfFile();
}

}  // namespace

bool has_translation(const std::filesystem::path& file) {
  return PyTorchStreamReader(file.string()).hasRecord(kTranslationRecord);
}

void add_translation(const std::filesystem::path& file, const std::string& onnx) {
  PyTorchStreamReader reader(file.string());
  require(reader.version() >= caffe2::serialize::kMinProducedFileFormatVersion,
          Code::kNotTranslated, "its format is too old to be written again");
  const std::vector<Record> records = read_records(reader);
  const std::filesystem::path written = file.string() + ".translated";
  std::ofstream stream(written, std::ios::binary | std::ios::trunc);
  write_archive(records, reader.version(), share_weights(onnx, records), stream);
  stream.close();
  std::error_code failed;
  if (!stream.fail()) std::filesystem::rename(written, file, failed);
  require(!stream.fail() && !failed, Code::kIo,
          "cannot write the TorchScript file " + file.string() +
              ": check that the directory is writable and has space left");
}

}  // namespace leapp::translate
