#include "build/native_text.h"

#include <algorithm>

namespace leapp {

std::vector<NativeVariant> native_variants(const std::string& target,
                                           const std::vector<std::string>& flags) {
  const bool chosen = std::any_of(flags.begin(), flags.end(),
                                  [](const std::string& flag) { return flag.starts_with("-m"); });
  std::vector<NativeVariant> variants = {{"plain", {}, ""}};
  if (chosen || !target.starts_with("x86_64")) return variants;
  const auto has = [](const char* feature) {
    return "__builtin_cpu_supports(\"" + std::string(feature) + "\")";
  };
  variants.push_back({"avx2", {"-mavx2", "-mfma"}, has("avx2") + " && " + has("fma")});
  variants.push_back({"avx512",
                      {"-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma"},
                      has("avx512f") + " && " + has("avx512bw") + " && " + has("avx512dq") +
                          " && " + has("avx512vl") + " && " + has("fma")});
  return variants;
}

std::vector<std::string> native_flags() {
  return {
      "-O3",      "-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math", "-fno-exceptions",
      "-fno-rtti"};
}

}  // namespace leapp
