#include "import/text_file.h"

#include <fstream>
#include <sstream>

#include "base/check.h"

namespace leapp::importing {
namespace {

constexpr std::uintmax_t kMaxTextBytes = std::uintmax_t{4} << 20;

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  require(std::filesystem::exists(path, error), Code::kNotFound,
          "there is no file " + path.string());
  require(std::filesystem::is_regular_file(path, error), Code::kIo,
          path.string() + " is not a file");
  require(std::filesystem::file_size(path, error) <= kMaxTextBytes, Code::kIo,
          path.string() + " is larger than 4 MiB, which no description of a policy is");
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  require(stream.good() || stream.eof(), Code::kIo, path.string() + " could not be read");
  return text.str();
}

}  // namespace leapp::importing
