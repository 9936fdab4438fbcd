// Random numbers that nothing traced decides, as long as they play a part.
#pragma once

#include <map>
#include <span>

#include "session/record/pass.h"

namespace leapp::session {

/// Forgets random numbers that are overwritten before anything has read them: those of a layer
/// whose weights are then loaded. `written` are tensors of which a call leaves nothing that they
/// held; those that are only a part of their memory do not count.
void forget_overwritten_draws(std::map<VarId, BakedValue>& baked, trace::Tape& tape,
                              std::span<const at::Tensor> written);

}  // namespace leapp::session
