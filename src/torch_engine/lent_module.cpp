#include "torch_engine/lent_module.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/csrc/jit/serialization/import_source.h>
#include <torch/csrc/jit/serialization/storage_context.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "torch_engine/archive.h"

namespace leapp {
namespace {

namespace jit = torch::jit;
using caffe2::serialize::PyTorchStreamReader;

// The bytes of a record as memory of tensors, which keep the file alive.
c10::Storage storage_over(const ModelFile& file, std::size_t offset, std::size_t size) {
  void* data = const_cast<std::byte*>(file.bytes.data() + offset);
  auto* keeper = new std::shared_ptr<const void>(file.keeper);
  c10::DataPtr memory(
      data, keeper,
      [](void* context) { delete static_cast<std::shared_ptr<const void>*>(context); }, at::kCPU);
  return {c10::Storage::use_byte_size_t(), size, std::move(memory), nullptr, false};
}

// The tensors of one of the archives in a file, by the names in its pickle. libtorch reads and
// copies records that are not aligned.
std::shared_ptr<jit::DeserializationStorageContext> lend_records(const ModelFile& file,
                                                                 PyTorchStreamReader& reader,
                                                                 const std::string& archive) {
  auto storages = std::make_shared<jit::DeserializationStorageContext>();
  const std::string folder = archive + "/";
  for (const std::string& record : reader.getAllRecords()) {
    if (!record.starts_with(folder)) continue;
    const std::size_t size = reader.getRecordSize(record);
    const std::size_t offset = reader.getRecordOffset(record);
    if (size == 0 || offset % 64 != 0 || offset + size > file.bytes.size()) continue;
    storages->addStorage(record.substr(folder.size()), storage_over(file, offset, size));
  }
  return storages;
}

std::shared_ptr<jit::Source> find_source(PyTorchStreamReader& reader,
                                         const std::string& qualifier) {
  std::string path = qualifier;
  std::replace(path.begin(), path.end(), '.', '/');
  path = "code/" + path + ".py";
  if (!reader.hasRecord(path)) return nullptr;
  const auto [data, size] = reader.getRecord(path);
  return std::make_shared<jit::Source>(std::string(static_cast<const char*>(data.get()), size),
                                       path, 1);
}

}  // namespace

jit::Module load_in_place(const ModelFile& file) {
  PyTorchStreamReader reader(archive_over(file));
  const auto unit = std::make_shared<jit::CompilationUnit>();
  std::vector<c10::IValue> constants;
  const jit::SourceImporter importer(
      unit, &constants,
      [&](const std::string& qualifier) { return find_source(reader, qualifier); },
      reader.version());
  const auto find_type = [&](const c10::QualifiedName& name) {
    return c10::StrongTypePtr(unit, importer.loadType(name));
  };
  const auto read = [&](const std::string& archive) {
    return jit::readArchiveAndTensors(archive, "", "", find_type, jit::ObjLoaderFunc, at::kCPU,
                                      reader, jit::Unpickler::defaultTypeParser,
                                      lend_records(file, reader, archive));
  };
  constants = read("constants").toTupleRef().elements().vec();
  return jit::Module(read("data").toObject());
}

}  // namespace leapp
