// Elements around a tensor.
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

using Ints = std::vector<std::int64_t>;

Value generate_constant_pad(OpContext& context) {
  Value x = context.tensor("self");
  const Ints pad = context.ints("pad");
  const Value filler = context.operand("value", x.dtype);
  // Negative padding is cropped first, so that no selection is needed for it.
  for (std::size_t k = 0; 2 * k < pad.size(); ++k) {
    const std::int64_t dim = x.rank() - 1 - static_cast<std::int64_t>(k);
    const std::int64_t before = std::min<std::int64_t>(pad[2 * k], 0);
    const std::int64_t after = std::min<std::int64_t>(pad[2 * k + 1], 0);
    const std::int64_t size = x.shape[static_cast<std::size_t>(dim)] + before + after;
    x = sliced(x, dim, -before, size);
  }
  if (x.shape == context.result_shape()) return x;
  const Shape from = x.shape;
  Shape begin(from.size(), 0);
  for (std::size_t k = 0; 2 * k < pad.size(); ++k) {
    begin[from.size() - 1 - k] = std::max<std::int64_t>(pad[2 * k], 0);
  }
  const Shape to = context.result_shape();
  return guarded(
      x, to,
      [begin](Indices index) {
        for (std::size_t i = 0; i < index.size(); ++i) index[i] = index[i].plus(-begin[i]);
        return index;
      },
      [begin, from, to](const Indices& index) {
        std::string text;
        for (std::size_t i = 0; i < index.size(); ++i) {
          const std::string place = index[i].text();
          const std::string join = text.empty() ? "" : " && ";
          if (begin[i] > 0) text += join + place + " >= " + std::to_string(begin[i]);
          if (to[i] > begin[i] + from[i]) {
            text +=
                (text.empty() ? "" : " && ") + place + " < " + std::to_string(begin[i] + from[i]);
          }
        }
        return text.empty() ? "true" : text;
      },
      filler);
}

// A function of kernels/place.h maps indices outside back inside.
Value generate_pad_by(OpContext& context, const std::string& function, const char* parameter) {
  const Value x = context.program().cheap(context.tensor("self"));
  context.program().use_kernel("place.h");
  const Ints pad = context.ints(parameter);
  const Shape from = x.shape;
  return view(x, context.result_shape(), [pad, from, function](Indices index) {
    for (std::size_t k = 0; 2 * k < pad.size(); ++k) {
      const std::size_t i = index.size() - 1 - k;
      if (pad[2 * k] == 0 && pad[2 * k + 1] == 0) continue;
      index[i] = Index::of(function + "(" + index[i].plus(-pad[2 * k]).text() + ", " +
                           std::to_string(from[i]) + ")");
    }
    return index;
  });
}

}  // namespace

void register_padding(GeneratorRegistry& registry) {
  registry.add({"aten::constant_pad_nd"}, generate_constant_pad);
  registry.add({"aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d"},
               [](OpContext& context) { return generate_pad_by(context, "reflected", "padding"); });
  registry.add({"aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d"},
               [](OpContext& context) { return generate_pad_by(context, "clamped", "padding"); });
  registry.add({"aten::_pad_circular"},
               [](OpContext& context) { return generate_pad_by(context, "wrapped", "pad"); });
}

}  // namespace leapp::cpp_export
