#include "runtime/engines/onnx/provider.h"

#include <algorithm>
#include <cctype>

#include "leapp/error.h"

namespace leapp {
namespace {

constexpr const char* kSuffix = "ExecutionProvider";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "cuda", "CUDA" and "CUDAExecutionProvider" all mean the same.
bool means(const std::string& requested, const std::string& provider) {
  return lower(requested) == lower(provider) || lower(requested + kSuffix) == lower(provider);
}

}  // namespace

std::string choose_provider(const std::string& requested,
                            const std::vector<std::string>& available) {
  if (requested.empty()) {
    const bool cuda =
        std::find(available.begin(), available.end(), kCudaProvider) != available.end();
    return cuda ? kCudaProvider : kCpuProvider;
  }
  std::string list;
  for (const std::string& provider : available) {
    if (means(requested, provider)) return provider;
    list += (list.empty() ? "" : ", ") + provider;
  }
  throw Error(Code::kNoProvider, "execution provider '" + requested +
                                     "' is not part of this ONNX Runtime, which has: " + list);
}

}  // namespace leapp
