// The parts of the page, embedded from the files in src/tools/view/page (cmake/LeappEmbed.cmake).
#pragma once

#include <string_view>

namespace leapp::view {

extern const std::string_view kPageHtml;  ///< with {{hash}}, {{style}}, {{script}} and {{data}}
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace leapp::view
