// Keeps elements that were indexed by traced numbers equal to their sources while a session traces.
#pragma once

#include <c10/core/StorageImpl.h>

#include <vector>

#include "session/session.h"

namespace leapp::session {

/// Copies between index views and their sources (trace/dynamic_index_views.h) until both are equal.
/// Called before an operator uses the memory in `touched`, or with nullptr (all views) before an
/// annotation reads tensors. The copies are recorded like the program's own operators. No lock may
/// be held.
void synchronize_index_views(Session& session,
                             const std::vector<const c10::StorageImpl*>* touched = nullptr);

}  // namespace leapp::session
