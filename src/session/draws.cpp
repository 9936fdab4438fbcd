#include "session/draws.h"

#include <optional>

#include "trace/recording.h"

namespace leapp::session {
namespace {

bool fills_memory(const at::Tensor& tensor) {
  return tensor.has_storage() && tensor.is_non_overlapping_and_dense() &&
         tensor.nbytes() == tensor.storage().nbytes();
}

// Whether the last call that touched the memory filled it with what was drawn.
bool was_filled_last(const trace::Tape& tape, trace::StoreId store, VarId drawn) {
  for (auto index = static_cast<std::int32_t>(tape.calls().size()) - 1; index >= 0; --index) {
    bool touches = false;
    bool fills = false;
    trace::for_each_site(tape, index, [&](const trace::Site&, VarId var) {
      fills |= var == drawn;
      touches |= var != kNobody && tape.variable(var).store == store;
    });
    if (touches) return fills;
  }
  return false;
}

}  // namespace

void forget_overwritten_draws(std::map<VarId, BakedValue>& baked, trace::Tape& tape,
                              std::span<const at::Tensor> written) {
  for (const at::Tensor& tensor : written) {
    const std::optional<VarId> var = fills_memory(tensor) ? tape.find(tensor) : std::nullopt;
    const trace::StoreId store = var ? tape.variable(*var).store : kNobody;
    if (store == kNobody) continue;
    std::erase_if(baked, [&](const auto& each) {
      return !each.second.random.empty() && was_filled_last(tape, store, each.first);
    });
  }
}

}  // namespace leapp::session
