// Pages for a browser, as `leapp view` and `leapp diff --html` write them.
#pragma once

#include <string>

namespace leapp::cli {

/// The file for a page: `out`, or else the bundle's name in the working folder.
std::string page_file(const std::string& out, const std::string& yaml);

/// Writes the page, opens it where that is asked for and there is a desktop, and says which file
/// it is. Throws Error(kIo).
void save_page(const std::string& page, const std::string& file, bool open);

}  // namespace leapp::cli
