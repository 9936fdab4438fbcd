#include "export/cpp/index.h"

#include <algorithm>

namespace leapp::cpp_export {

Index Index::times(std::int64_t factor) const {
  Index product;
  if (factor == 0) return product;
  product.offset_ = offset_ * factor;
  for (const auto& [atom, scale] : terms_) product.terms_.emplace_back(atom, scale * factor);
  return product;
}

Index Index::plus(const Index& other) const {
  Index sum = *this;
  sum.offset_ += other.offset_;
  for (const auto& term : other.terms_) {
    const auto same = std::find_if(sum.terms_.begin(), sum.terms_.end(),
                                   [&](const auto& each) { return each.first == term.first; });
    if (same == sum.terms_.end()) {
      sum.terms_.push_back(term);
    } else {
      same->second += term.second;
    }
  }
  std::erase_if(sum.terms_, [](const auto& term) { return term.second == 0; });
  return sum;
}

std::string Index::text() const {
  std::string text;
  const auto add = [&](bool is_negative, const std::string& part) {
    if (text.empty()) {
      text = (is_negative ? "-" : "") + part;
    } else {
      text += (is_negative ? " - " : " + ") + part;
    }
  };
  for (const bool negatives : {false, true}) {  // "9 - i0" is more readable than "-i0 + 9"
    for (const auto& [atom, scale] : terms_) {
      if ((scale < 0) != negatives) continue;
      const std::int64_t size = scale < 0 ? -scale : scale;
      add(scale < 0, size == 1 ? atom : atom + " * " + std::to_string(size));
    }
    if (!negatives && offset_ > 0) add(false, std::to_string(offset_));
  }
  if (offset_ < 0) add(true, std::to_string(-offset_));
  return text.empty() ? "0" : text;
}

std::string Index::atom() const {
  const bool is_word = (terms_.empty() && offset_ >= 0) ||
                       (terms_.size() == 1 && offset_ == 0 && terms_.front().second == 1);
  return is_word ? text() : "(" + text() + ")";
}

}  // namespace leapp::cpp_export
