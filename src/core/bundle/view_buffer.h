// A stream buffer for text that is already in memory, without a copy.
#pragma once

#include <streambuf>
#include <string_view>

namespace leapp {

/// The text must outlive the buffer. Input only, front to back.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // required by streambuf; never written to
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace leapp
