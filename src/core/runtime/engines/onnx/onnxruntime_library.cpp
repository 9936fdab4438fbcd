#include "runtime/engines/onnx/onnxruntime_library.h"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/log.h"
#include "leapp/engine.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

// The oldest interface with all functions used here: ONNX Runtime 1.18 and newer.
constexpr std::uint32_t kApiVersion = 18;

std::mutex mutex;
fs::path& preferred_path() {
  static fs::path path;
  return path;
}

// Returns the files in a directory; empty if it cannot be read. Does not use std::filesystem's
// iterator, which ends the process if memory is short.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (directory == nullptr) return entries;
  while (const dirent* entry = ::readdir(directory.get())) {
    entries.push_back(folder / static_cast<const char*>(entry->d_name));
  }
  return entries;
}

// Returns libonnxruntime.so or libonnxruntime.so.* in a directory; if there are several, the
// shortest name.
std::vector<fs::path> libraries_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const fs::path& entry : entries_of(folder)) {
    if (entry.filename().string().starts_with("libonnxruntime.so")) found.push_back(entry);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void append(std::vector<fs::path>& to, const std::vector<fs::path>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// A path of the user: the library itself, or its directory.
std::vector<fs::path> given(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? libraries_in(path) : std::vector<fs::path>{path};
}

std::vector<fs::path> candidates() {
  if (const char* path = std::getenv("LEAPP_ONNXRUNTIME"); path != nullptr && *path != '\0') {
    std::vector<fs::path> paths = given(path);
    // If the directory is empty, the search must not silently continue elsewhere.
    if (paths.empty()) paths.push_back(fs::path(path) / "libonnxruntime.so");
    return paths;
  }
  std::vector<fs::path> paths;
  if (!preferred_path().empty()) append(paths, given(preferred_path()));
  static const char anchor = 0;
  Dl_info info{};
  if (dladdr(&anchor, &info) != 0 && info.dli_fname != nullptr) {
    std::error_code ignored;
    const fs::path here = fs::absolute(info.dli_fname, ignored).parent_path();
    append(paths, libraries_in(here));
    append(paths, libraries_in(here / "../onnxruntime/capi"));
    append(paths, libraries_in(here / "../../onnxruntime/capi"));
  }
  if (const char* environment = std::getenv("VIRTUAL_ENV")) {
    for (const fs::path& entry : entries_of(fs::path(environment) / "lib")) {
      append(paths, libraries_in(entry / "site-packages/onnxruntime/capi"));
    }
  }
  paths.emplace_back("libonnxruntime.so.1");
  paths.emplace_back("libonnxruntime.so");
  return paths;
}

const OrtApiBase* open_library() {
  std::string tried;
  for (const fs::path& path : candidates()) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      tried += "\n  " + std::string(dlerror());
      continue;
    }
    void* symbol = dlsym(handle, "OrtGetApiBase");
    if (symbol != nullptr) return reinterpret_cast<const OrtApiBase* (*)()>(symbol)();
    tried += "\n  " + path.string() + ": exports no OrtGetApiBase";
  }
  throw Error(Code::kNoEngine,
              "ONNX Runtime was not found; tried:" + tried +
                  "\nInstall it (pip install onnxruntime, or the system's package), or set "
                  "LEAPP_ONNXRUNTIME to libonnxruntime.so or its directory.");
}

void forward_log(void*, OrtLoggingLevel severity, const char*, const char*, const char*,
                 const char* message) {
  // ONNX Runtime's warnings help to tune models: they become debug lines.
  log(severity >= ORT_LOGGING_LEVEL_ERROR ? LogLevel::kWarning : LogLevel::kDebug,
      Code::kEngineSays, std::string("ONNX Runtime: ") + message);
}

}  // namespace

void use_onnxruntime(const fs::path& path) {
  const std::lock_guard lock(mutex);
  preferred_path() = path;
}

const OnnxRuntime& OnnxRuntime::get() {
  const std::lock_guard lock(mutex);
  static const OnnxRuntime* const instance = new OnnxRuntime();
  return *instance;
}

OnnxRuntime::OnnxRuntime() {
  const OrtApiBase* base = open_library();
  // A program may end while another thread is here. Exit handlers run in reverse order, so the
  // library is not destroyed before it is initialised.
  std::atexit([] { const std::lock_guard up(mutex); });
  version_ = base->GetVersionString();
  api_ = base->GetApi(kApiVersion);
  if (api_ == nullptr) {
    throw Error(Code::kWrongEngine, "ONNX Runtime " + version_ + " is too old: LEAPP needs 1." +
                                        std::to_string(kApiVersion) + " or newer");
  }
  check(api_->CreateEnvWithCustomLogger(forward_log, nullptr, ORT_LOGGING_LEVEL_WARNING, "leapp",
                                        &env_),
        "ONNX Runtime could not be started");
  char** names = nullptr;
  int count = 0;
  check(api_->GetAvailableProviders(&names, &count), "ONNX Runtime lists no providers");
  providers_.assign(names, names + count);
  check(api_->ReleaseAvailableProviders(names, count), "ONNX Runtime");
}

void OnnxRuntime::check(OrtStatus* status, const std::string& what, Code code) const {
  if (status == nullptr) [[likely]]
    return;
  const std::string message = what + ": " + api_->GetErrorMessage(status);
  api_->ReleaseStatus(status);
  throw Error(code, message);
}

}  // namespace leapp
