// Pages for a browser, as `leapp view` and `leapp diff --html` write them.
#pragma once

#include <string>

namespace leapp::cli {

/// Writes a page. Throws Error(kIo).
void save_page(const std::string& page, const std::string& file);

}  // namespace leapp::cli
