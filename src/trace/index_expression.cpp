#include "trace/index_expression.h"

#include <algorithm>

#include "trace/dynamic_index_views.h"

namespace leapp::trace {

std::optional<std::vector<std::int64_t>> traced_dims(std::span<const IndexItem> items,
                                                     std::int64_t rank) {
  const auto consumed = std::ranges::count_if(items, [](IndexItem item) {
    return item != IndexItem::kNewAxis && item != IndexItem::kEllipsis;
  });
  std::vector<std::int64_t> dims;
  std::int64_t dim = 0;
  for (const IndexItem item : items) {
    switch (item) {
      case IndexItem::kTraced:
        dims.push_back(dim++);
        break;
      case IndexItem::kSlice:
      case IndexItem::kNewAxis:
        ++dim;
        break;
      case IndexItem::kEllipsis:
        dim += rank - consumed;
        break;
      case IndexItem::kNumber:
        break;
      case IndexItem::kOther:
        return std::nullopt;
    }
  }
  return dims.empty() ? std::nullopt : std::optional(std::move(dims));
}

void index_assign(const at::Tensor& target, const std::vector<std::int64_t>& dims,
                  const std::vector<at::Tensor>& indices, const at::Tensor& value) {
  std::vector<std::int64_t> shape;
  for (std::int64_t dim = 0; dim < target.dim(); ++dim) {
    if (std::ranges::count(dims, dim) == 0) shape.push_back(target.size(dim));
  }
  index_write(target, dims, indices, value.to(target.scalar_type()).expand(shape));
}

}  // namespace leapp::trace
