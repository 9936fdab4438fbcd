#include "controller/history_ring.h"

#include <algorithm>

namespace leapp {

HistoryRing::HistoryRing(const History& history, std::size_t steps, std::size_t count,
                         std::size_t stride)
    : steps_(steps),
      count_(count),
      stride_(stride),
      slots_((steps - 1) * stride + 1),
      newest_first_(history.order == HistoryOrder::kNewestFirst),
      samples_(2 * slots_ * count) {
  if (!history.start) return;
  start_ = *history.start;
  if (start_->size() == 1) start_->assign(count, history.start->front());
}

void HistoryRing::push(std::span<const double> sample) noexcept {
  if (!filled_) {
    const std::span<const double> before = start_ ? std::span<const double>(*start_) : sample;
    for (std::size_t slot = 0; slot < slots_; ++slot) write(slot, before);
    newest_ = 2 * slots_ - 1;
    filled_ = true;
  }
  const std::size_t slot = (newest_ + 1) % slots_;
  write(slot, sample);
  newest_ = slot + slots_;
}

void HistoryRing::repeat() noexcept {
  push({samples_.data() + newest_ * count_, count_});  // in a different slot than the next
}

void HistoryRing::write(std::size_t slot, std::span<const double> sample) noexcept {
  const auto offset = static_cast<std::ptrdiff_t>(slot * count_);
  const auto half = static_cast<std::ptrdiff_t>(slots_ * count_);
  std::copy(sample.begin(), sample.end(), samples_.begin() + offset);
  std::copy(sample.begin(), sample.end(), samples_.begin() + half + offset);
}

std::span<const double> HistoryRing::step(std::size_t index) const noexcept {
  const std::size_t age = newest_first_ ? index : steps_ - 1 - index;
  return {samples_.data() + (newest_ - age * stride_) * count_, count_};
}

}  // namespace leapp
