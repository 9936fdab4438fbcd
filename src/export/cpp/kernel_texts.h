// The texts of kernels/, which the build embeds into the library, by file name.
#pragma once

#include <string_view>

namespace leapp::cpp_export {

/// Returns the text of a file. A missing file is an internal error.
std::string_view kernel_text(std::string_view file);

}  // namespace leapp::cpp_export
