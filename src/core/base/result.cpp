#include "leapp/result.h"

#include <algorithm>

#include "base/utf8.h"

namespace leapp {

Failure::Failure(Code code, std::initializer_list<std::string_view> parts) noexcept : code_(code) {
  const std::string tag = tag_of(code);  // short enough for the string's internal buffer
  for (std::string_view part : parts) append(part, kCapacity - tag.size());
  make_printable({text_.data(), size_});
  text_size_ = size_;
  append(tag, kCapacity);
}

void Failure::append(std::string_view part, std::size_t limit) noexcept {
  const std::size_t count = std::min(part.size(), limit - size_);
  std::copy_n(part.data(), count, text_.data() + size_);
  size_ += count;
}

}  // namespace leapp
