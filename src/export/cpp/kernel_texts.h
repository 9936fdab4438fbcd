// The texts of kernels/, which the build writes into the library, by their files' names.
#pragma once

#include <string_view>

namespace leapp::cpp_export {

/// Returns a missing file is an internal error.
std::string_view kernel_text(std::string_view file);

}  // namespace leapp::cpp_export
