#include "import/text_file.h"

#include <cstdint>

#include "base/input_file.h"

namespace leapp::importing {
namespace {

// A limit above the size of any description of a policy.
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{4} << 20;

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  return read_file(path, kMaxTextBytes);
}

}  // namespace leapp::importing
