#include "runtime/engines/cpp/native_library.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "base/check.h"
#include "base/hash.h"
#include "bundle/verified_files.h"
#include "leapp/native.h"
#include "runtime/engines/cpp/cpp_engine.h"
#include "runtime/engines/cpp/native_record.h"

namespace leapp {
namespace {

// A file in memory with those bytes: what is opened is what was verified, whoever writes to the
// folder meanwhile. It is never closed, as libraries are not: the dynamic linker knows a library by
// its path, and a path that came back would be taken for the former one.
std::filesystem::path in_memory(std::span<const std::byte> bytes) {
  const int file = memfd_create("leapp-native", MFD_CLOEXEC);
  require(file >= 0, Code::kIo, std::string("no memory for a library: ") + std::strerror(errno));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    require(count > 0, Code::kIo, std::string("no memory for a library: ") + std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
  return "/proc/self/fd/" + std::to_string(file);
}

// The path to open for a verified library; the same one for all nodes, and for all managers.
std::filesystem::path verified_library(const NativeRecord& record,
                                       const std::filesystem::path& file) {
  static std::mutex mutex;
  static std::map<std::string, std::filesystem::path> opened;
  const std::lock_guard lock(mutex);
  require(record.library.find('/') == std::string::npos, Code::kStaleBuild,
          file.string() + ": the library is not beside it: '" + record.library + "'");
  const FileBytes library(file.parent_path() / record.library);
  const auto* text = reinterpret_cast<const char*>(library.bytes().data());
  const std::string found = hash_bytes({text, library.bytes().size()}).sha256;
  require(found == record.sha256, Code::kStaleBuild,
          library.path().string() + " is not the library that " + file.string() +
              " tells of: its checksum is " + found + ", not " + record.sha256 +
              "; run 'leapp build' again");
  if (const auto known = opened.find(record.sha256); known != opened.end()) return known->second;
  const std::filesystem::path path = in_memory(library.bytes());
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    throw Error(Code::kStaleBuild, library.path().string() + ", built for " + record.target +
                                       ", cannot be loaded on this machine (" + dlerror() +
                                       "); run 'leapp build' here");
  }
  return opened.emplace(record.sha256, path).first->second;
}

}  // namespace

std::unique_ptr<Engine> load_cpp_engine(const Model& model, const ModelFile& file,
                                        const EngineOptions&) {
  require(file.allow_native, Code::kNativeNotAllowed,
          "node '" + model.name +
              "' is C++: running it is running machine code of whoever made this bundle. If you "
              "would run a program of theirs, load it with allow_native=True (C++ and C: "
              "allow_native; the command: --allow-native); docs/security.md has the whole of it");
  const NativeRecord record = read_native_record(file.native_record);
  check_native_record(record, file.native_record, model);
  const auto weights =
      file.external_data.empty() ? std::span<const std::byte>() : file.external_data.front().second;
  return load_cpp_library(model, verified_library(record, file.native_record), weights);
}

}  // namespace leapp
