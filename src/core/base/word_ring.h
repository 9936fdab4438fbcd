// A queue of 64-bit words between one writing and one reading thread.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace leapp {

/// Its capacity is a power of two. Neither side ever waits or allocates: a message that does not
/// fit is dropped as a whole.
class WordRing {
 public:
  explicit WordRing(std::size_t words) : words_(std::bit_ceil(words)), mask_(words_.size() - 1) {}

  /// Starts a message of `count` words. Returns false if there is no room. Called by the writer.
  bool begin(std::size_t count) noexcept {
    next_ = head_.load(std::memory_order_relaxed);
    return words_.size() - (next_ - tail_.load(std::memory_order_acquire)) >= count;
  }
  /// Adds one word to the message.
  void put(std::uint64_t word) noexcept { words_[next_++ & mask_] = word; }
  void put(double number) noexcept { put(std::bit_cast<std::uint64_t>(number)); }
  /// Publishes the message to the reader.
  void end() noexcept { head_.store(next_, std::memory_order_release); }

  /// Returns the number of available words. Called by the reader.
  std::size_t size() const noexcept {
    return head_.load(std::memory_order_acquire) - tail_.load(std::memory_order_relaxed);
  }
  /// Removes and returns one word. Called by the reader.
  std::uint64_t take() noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t word = words_[tail & mask_];
    tail_.store(tail + 1, std::memory_order_release);
    return word;
  }

 private:
  static constexpr std::size_t kCacheLine = 64;
  std::vector<std::uint64_t> words_;
  std::size_t mask_;
  alignas(kCacheLine) std::atomic<std::size_t> head_{0};
  std::size_t next_ = 0;  // used only by the writer
  alignas(kCacheLine) std::atomic<std::size_t> tail_{0};
};

}  // namespace leapp
