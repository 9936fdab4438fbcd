#include "trace/picks.h"

#include <ATen/ops/index_put.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/where.h>

#include <algorithm>

namespace leapp::trace {
namespace {

using Memory = const c10::StorageImpl*;

// One index, counted from the front.
at::Tensor from_front(const at::Tensor& number, std::int64_t size) {
  const at::Tensor index = number.to(at::kLong).reshape({1});
  return at::where(index.lt(0), index.add(size), index);
}

// Whether the tensor's memory was written to since both sides of a pick were the same.
bool was_written(Tape& tape, const at::Tensor& tensor, std::int32_t agreed) {
  const auto var = tape.find(tensor);
  return var && tape.written_since(*var, agreed);
}

bool holds(const std::vector<Memory>& list, Memory memory) {
  return std::ranges::find(list, memory) != list.end();
}

}  // namespace

at::Tensor take(const at::Tensor& of, const std::vector<std::int64_t>& places,
                const std::vector<at::Tensor>& numbers) {
  at::Tensor result = of;
  for (std::size_t i = places.size(); i-- > 0;) {  // so that earlier places stay what they are
    result = at::index_select(result, places[i], from_front(numbers[i], result.size(places[i])))
                 .squeeze(places[i]);
  }
  return result;
}

void put(const at::Tensor& of, const std::vector<std::int64_t>& places,
         const std::vector<at::Tensor>& numbers, const at::Tensor& value) {
  c10::List<std::optional<at::Tensor>> indices;
  for (std::int64_t place = 0; place < of.dim(); ++place) {
    const auto it = std::find(places.begin(), places.end(), place);
    if (it == places.end()) {
      indices.push_back(std::nullopt);
      continue;
    }
    const auto which = static_cast<std::size_t>(it - places.begin());
    indices.push_back(from_front(numbers[which], of.size(place)));
  }
  // The numbers broadcast to one dimension: in place when they are neighbours, in front otherwise.
  const bool together =
      places.back() - places.front() == static_cast<std::int64_t>(places.size()) - 1;
  at::Tensor target = of;
  at::index_put_(target, indices, value.unsqueeze(together ? places.front() : 0));
}

void Picks::Step::take() const {
  if (back) {
    put(pick->of, pick->places, pick->numbers, pick->copy);
  } else {
    pick->copy.copy_(trace::take(pick->of, pick->places, pick->numbers));
  }
}

void Picks::add(const Tape& tape, Pick pick) {
  agree(tape, pick);
  picks_.push_back(std::make_shared<Pick>(std::move(pick)));
}

void Picks::agree(const Tape& tape, Pick& pick) {
  pick.agreed = tape.call_count();
}

std::optional<Picks::Step> Picks::next(Tape& tape, const std::vector<Memory>* touched) {
  forget_unused(tape);
  const auto copy_of = [](const auto& pick) { return memory_of(pick->copy); };
  // The memory that is looked at: with a pick of a pick, the copy around it as well. Inner picks
  // were made after those around them.
  std::vector<Memory> shown;
  if (touched != nullptr) shown = *touched;
  for (auto it = picks_.rbegin(); it != picks_.rend(); ++it) {
    const Memory outer = memory_of((*it)->of);
    const bool nested = std::ranges::find(picks_, outer, copy_of) != picks_.end();
    if (nested && holds(shown, copy_of(*it))) shown.push_back(outer);
  }
  // The picks whose elements are looked at through the tensor, through a pick around them, or
  // through another pick that may have chosen the same.
  std::vector<std::shared_ptr<Pick>> concerned;
  for (const auto& pick : picks_) {
    const Memory outer = memory_of(pick->of);
    const bool looked_at =
        touched == nullptr || holds(*touched, outer) ||
        std::ranges::find(concerned, outer, copy_of) != concerned.end() ||
        std::ranges::any_of(picks_, [&](const auto& other) {
          return other != pick && memory_of(other->of) == outer && holds(shown, copy_of(other));
        });
    if (looked_at) concerned.push_back(pick);
  }
  for (auto it = concerned.rbegin(); it != concerned.rend(); ++it) {  // inner ones first
    if (was_written(tape, (*it)->copy, (*it)->agreed)) return Step{*it, true};
  }
  for (const auto& pick : picks_) {
    if (touched != nullptr && !holds(shown, copy_of(pick))) continue;
    if (was_written(tape, pick->of, pick->agreed)) return Step{pick, false};
  }
  return std::nullopt;
}

Picks::Pick* Picks::find(const at::Tensor& copy, const at::Tensor& of,
                         const std::vector<at::Tensor>& numbers) {
  const auto same = [](const at::Tensor& a, const at::Tensor& b) { return a.is_same(b); };
  const auto it = std::ranges::find_if(picks_, [&](const auto& pick) {
    return pick->copy.is_same(copy) && pick->of.is_alias_of(of) &&
           pick->of.storage_offset() == of.storage_offset() && pick->of.sizes() == of.sizes() &&
           pick->of.strides() == of.strides() && std::ranges::equal(numbers, pick->numbers, same);
  });
  return it == picks_.end() ? nullptr : it->get();
}

// A copy that nobody else holds any more, once what was written to it is where it belongs.
void Picks::forget_unused(Tape& tape) {
  std::erase_if(picks_, [&](const auto& pick) {
    return pick->copy.use_count() == 1 && pick->copy.storage().use_count() == 1 &&
           !was_written(tape, pick->copy, pick->agreed);
  });
}

}  // namespace leapp::trace
