#include "export/cpp/window.h"

#include <algorithm>

namespace leapp::cpp_export {

std::vector<std::int64_t> per_dimension(std::vector<std::int64_t> numbers, std::size_t count,
                                        std::int64_t if_none) {
  if (numbers.empty()) numbers.push_back(if_none);
  if (numbers.size() == 1) numbers.resize(count, numbers.front());
  return numbers;
}

namespace {

// Returns x with `before` elements in front of each of its last dimensions and as many after it as
// windows need, in memory, so that reading a window's elements needs no condition.
Value padded(Program& program, const Value& x, const Windows& windows,
             const std::vector<std::int64_t>& out, const Value& filler) {
  const std::size_t count = windows.size.size();
  const std::size_t front = x.shape.size() - count;
  Shape to = x.shape;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t reach =
        (out[i] - 1) * windows.stride[i] + (windows.size[i] - 1) * windows.dilation[i] + 1;
    to[front + i] = std::max(reach, windows.padding[i] + x.shape[front + i]);
  }
  if (to == x.shape) return program.cheap(x);
  const Shape from = x.shape;
  const std::vector<std::int64_t> padding = windows.padding;
  return program.stored(guarded(
      x, to,
      [front, padding](Indices index) {
        for (std::size_t i = 0; i < padding.size(); ++i) {
          index[front + i] = index[front + i].plus(-padding[i]);
        }
        return index;
      },
      [front, padding, from](const Indices& index) {
        std::string text;
        for (std::size_t i = 0; i < padding.size(); ++i) {
          const std::string place = index[front + i].text();
          text += (text.empty() ? "" : " && ") + place + " >= " + std::to_string(padding[i]) +
                  " && " + place + " < " + std::to_string(padding[i] + from[front + i]);
        }
        return text;
      },
      filler));
}

}  // namespace

Value windowed(Program& program, const Value& x, const Windows& windows,
               const std::vector<std::int64_t>& out, const Value& filler) {
  const std::size_t count = windows.size.size();
  const std::size_t front = x.shape.size() - count;
  const Value whole = padded(program, x, windows, out, filler);
  Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(front));
  shape.insert(shape.end(), out.begin(), out.end());
  shape.insert(shape.end(), windows.size.begin(), windows.size.end());
  return view(
      whole, shape,
      [=](const Indices& index) {
        Indices own(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(front));
        for (std::size_t i = 0; i < count; ++i) {
          own.push_back(index[front + i]
                            .times(windows.stride[i])
                            .plus(index[front + count + i].times(windows.dilation[i])));
        }
        return own;
      },
      [=](const Shape& strides) {
        Shape wide(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(front));
        for (std::size_t i = 0; i < count; ++i)
          wide.push_back(strides[front + i] * windows.stride[i]);
        for (std::size_t i = 0; i < count; ++i)
          wide.push_back(strides[front + i] * windows.dilation[i]);
        return wide;
      });
}

}  // namespace leapp::cpp_export
