#include "trace/dynamic_index_views.h"

#include <ATen/ops/index_put.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/where.h>

#include <algorithm>

namespace leapp::trace {
namespace {

using Memory = const c10::StorageImpl*;

// Returns an index of shape [1] that counts from the front.
at::Tensor from_front(const at::Tensor& number, std::int64_t size) {
  const at::Tensor index = number.to(at::kLong).reshape({1});
  return at::where(index.lt(0), index.add(size), index);
}

bool was_written(Tape& tape, const at::Tensor& tensor, std::int32_t since) {
  const auto var = tape.find(tensor);
  return var && tape.written_since(*var, since);
}

bool contains(const std::vector<Memory>& list, Memory memory) {
  return std::ranges::find(list, memory) != list.end();
}

bool is_view_of(const DynamicIndexViews::View& view, const at::Tensor& copy,
                const at::Tensor& source, const std::vector<at::Tensor>& indices) {
  const auto same = [](const at::Tensor& a, const at::Tensor& b) { return a.is_same(b); };
  return view.copy.is_same(copy) && view.source.is_alias_of(source) &&
         view.source.storage_offset() == source.storage_offset() &&
         view.source.sizes() == source.sizes() && view.source.strides() == source.strides() &&
         std::ranges::equal(indices, view.indices, same);
}

}  // namespace

at::Tensor index_copy(const at::Tensor& source, const std::vector<std::int64_t>& dims,
                      const std::vector<at::Tensor>& indices) {
  at::Tensor result = source;
  for (std::size_t i = dims.size(); i-- > 0;) {  // backwards: earlier dimensions keep their place
    result = at::index_select(result, dims[i], from_front(indices[i], result.size(dims[i])))
                 .squeeze(dims[i]);
  }
  return result;
}

void index_write(const at::Tensor& target, const std::vector<std::int64_t>& dims,
                 const std::vector<at::Tensor>& indices, const at::Tensor& value) {
  c10::List<std::optional<at::Tensor>> all;
  for (std::int64_t dim = 0; dim < target.dim(); ++dim) {
    const auto it = std::find(dims.begin(), dims.end(), dim);
    if (it == dims.end()) {
      all.push_back(std::nullopt);
      continue;
    }
    const auto which = static_cast<std::size_t>(it - dims.begin());
    all.push_back(from_front(indices[which], target.size(dim)));
  }
  // The indices broadcast to one dimension: in place if they are adjacent, in front otherwise.
  const bool adjacent = dims.back() - dims.front() == static_cast<std::int64_t>(dims.size()) - 1;
  at::Tensor written = target;
  at::index_put_(written, all, value.unsqueeze(adjacent ? dims.front() : 0));
}

void DynamicIndexViews::Step::run() const {
  if (to_source) {
    index_write(view->source, view->dims, view->indices, view->copy);
  } else {
    view->copy.copy_(index_copy(view->source, view->dims, view->indices));
  }
}

void DynamicIndexViews::add(const Tape& tape, View view) {
  view.equal_since = tape.call_count();
  views_.push_back(std::make_shared<View>(std::move(view)));
}

void DynamicIndexViews::finish(const Tape& tape, const Step& step) {
  if (std::ranges::find(views_, step.view) == views_.end()) return;
  step.view->equal_since = tape.call_count();
}

void DynamicIndexViews::finish_write_back(const Tape& tape, const at::Tensor& copy,
                                          const at::Tensor& source,
                                          const std::vector<at::Tensor>& indices) {
  const auto it = std::ranges::find_if(
      views_, [&](const auto& view) { return is_view_of(*view, copy, source, indices); });
  if (it != views_.end()) (*it)->equal_since = tape.call_count();
}

std::optional<DynamicIndexViews::Step> DynamicIndexViews::next_step(
    Tape& tape, const std::vector<Memory>* touched) {
  remove_unused(tape);
  const auto copy_of = [](const auto& view) { return memory_of(view->copy); };
  // The memory that is read. For a view of a view, this includes the copy of the outer view. Inner
  // views were created after outer ones.
  std::vector<Memory> shown;
  if (touched != nullptr) shown = *touched;
  for (auto it = views_.rbegin(); it != views_.rend(); ++it) {
    const Memory outer = memory_of((*it)->source);
    const bool nested = std::ranges::find(views_, outer, copy_of) != views_.end();
    if (nested && contains(shown, copy_of(*it))) shown.push_back(outer);
  }
  // The views whose elements are read through the source, through an outer view, or through another
  // view that may have indexed the same elements.
  std::vector<std::shared_ptr<View>> concerned;
  for (const auto& view : views_) {
    const Memory outer = memory_of(view->source);
    const bool is_read = touched == nullptr || contains(*touched, outer) ||
                         std::ranges::find(concerned, outer, copy_of) != concerned.end() ||
                         std::ranges::any_of(views_, [&](const auto& other) {
                           return other != view && memory_of(other->source) == outer &&
                                  contains(shown, copy_of(other));
                         });
    if (is_read) concerned.push_back(view);
  }
  for (auto it = concerned.rbegin(); it != concerned.rend(); ++it) {  // inner views first
    if (was_written(tape, (*it)->copy, (*it)->equal_since)) return Step{*it, true};
  }
  for (const auto& view : views_) {
    if (touched != nullptr && !contains(shown, copy_of(view))) continue;
    if (was_written(tape, view->source, view->equal_since)) return Step{view, false};
  }
  return std::nullopt;
}

// Removes copies that only this object holds, if all writes to them reached the source.
void DynamicIndexViews::remove_unused(Tape& tape) {
  std::erase_if(views_, [&](const auto& view) {
    return view->copy.use_count() == 1 && view->copy.storage().use_count() == 1 &&
           !was_written(tape, view->copy, view->equal_since);
  });
}

}  // namespace leapp::trace
