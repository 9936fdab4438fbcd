#include "runtime/engines/cpp/native_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/input_file.h"
#include "runtime/engines/cpp/cpp_engine.h"
#include "runtime/engines/cpp/native_record.h"

namespace leapp {
namespace {

[[noreturn]] void fail_memory() {
  throw Error(Code::kIo, std::string("could not copy a compiled library into memory: ") +
                             std::strerror(errno));
}

// A copy of a file in sealed memory: the hashed bytes are the opened bytes, for any size, even if
// another process writes to the file or to this process's descriptors.
class SealedCopy {
 public:
  explicit SealedCopy(const std::filesystem::path& file)
      : descriptor_(memfd_create("leapp-native", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (descriptor_ < 0) fail_memory();
    try {
      InputFile from(file);
      std::vector<char> buffer(std::size_t{1} << 20);
      while (const std::size_t count = from.read(buffer)) append({buffer.data(), count});
      constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
      if (::fcntl(descriptor_, F_ADD_SEALS, kSeals) != 0) fail_memory();
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
  }
  ~SealedCopy() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  SealedCopy(const SealedCopy&) = delete;
  SealedCopy& operator=(const SealedCopy&) = delete;

  std::string sha256() const { return sha256_file(path()); }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  // Never closed, because the dynamic linker identifies a library by its path: a reused path would
  // be taken for the previous library.
  void keep() noexcept { descriptor_ = -1; }

 private:
  void append(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail_memory();
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  int descriptor_;
};

// Returns the path of a verified library for opening; the same path for all nodes and managers.
std::filesystem::path verified_library(const NativeRecord& record,
                                       const std::filesystem::path& file) {
  static std::mutex mutex;
  static std::map<std::string, std::filesystem::path> opened;
  const std::lock_guard lock(mutex);
  require(record.library.find('/') == std::string::npos, Code::kStaleBuild,
          file.string() + ": the library is not in the same directory: '" + record.library + "'");
  const std::filesystem::path library = file.parent_path() / record.library;
  SealedCopy copy(library);
  const std::string found = copy.sha256();
  require(found == record.sha256, Code::kStaleBuild,
          library.string() + " is not the library that " + file.string() +
              " describes: its checksum is " + found + ", not " + record.sha256 +
              "; run 'leapp build' again");
  const auto [known, is_new] = opened.try_emplace(found, copy.path());
  if (!is_new) return known->second;
  if (dlopen(known->second.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    opened.erase(known);
    throw Error(Code::kStaleBuild, library.string() + ", built for " + record.target +
                                       ", cannot be loaded on this machine (" + dlerror() +
                                       "); run 'leapp build' here");
  }
  copy.keep();
  return known->second;
}

}  // namespace

std::unique_ptr<Engine> load_cpp_engine(const Model& model, const ModelFile& file,
                                        const EngineOptions&) {
  require(file.allow_native, Code::kNativeNotAllowed,
          "node '" + model.name +
              "' is C++ and runs as machine code. If you trust the author of the bundle, load it "
              "with allow_native=True (C++ and C: allow_native; command: --allow-native); see "
              "docs/explanation/security.md");
  const NativeRecord record = read_native_record(file.native_record);
  check_native_record(record, file.native_record, model);
  const auto weights =
      file.external_data.empty() ? std::span<const std::byte>() : file.external_data.front().second;
  return load_cpp_library(model, verified_library(record, file.native_record), weights);
}

}  // namespace leapp
