// compile_graph() for front ends: with an external backend, and with its report as data.
#pragma once

#include <string>
#include <vector>

#include "leapp/leapp.h"
#include "leapp/visibility.h"
#include "session/external_backend.h"

namespace leapp::compile {

struct CompileReport {
  std::vector<NodeOutcome> outcomes;  ///< one per node if it validated, otherwise empty
  std::string validation;             ///< text of validation.json; empty if nothing was validated
  std::vector<std::string> schedule;  ///< nodes that do not run once per tick, as text
};

/// Does what leapp::compile_graph() does. `external` writes and runs models that have no C++
/// implementation; it may be null.
LEAPP_EXPORT CompileReport compile_graph(const CompileOptions& options,
                                         session::ExternalBackend* external);

}  // namespace leapp::compile
