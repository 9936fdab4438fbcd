#include "compile/drawing.h"

#include <exception>
#include <system_error>

#include "base/check.h"
#include "viz/draw.h"

namespace leapp::compile {

std::future<std::string> draw_beside(const Bundle& bundle, bool wanted,
                                     const std::filesystem::path& staged,
                                     const std::filesystem::path& target, const std::string& name) {
  if (!wanted) return std::async(std::launch::deferred, [] { return std::string(); });
  return std::async(std::launch::async, [=]() -> std::string {
    const std::string file = name + ".png";
    std::error_code ignored;
    try {
      require(!std::filesystem::is_directory(target / file, ignored), Code::kIo,
              (target / file).string() + " is a directory");
      draw(bundle, staged / file, name);
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  });
}

}  // namespace leapp::compile
