// Groups of nodes that run as one engine: `pipeline.merged`, B43.
#pragma once

#include <cstddef>
#include <vector>

#include "bundle/rule_reporter.h"
#include "bundle/wiring.h"
#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Indices into Bundle::models; the nodes of a group are in the order in which they run.
using NodeGroups = std::vector<std::vector<std::size_t>>;

/// Returns the groups that the bundle states, none without a statement. Throws Error [B43]. The
/// models are not opened.
LEAPP_EXPORT NodeGroups resolve_merged(const Bundle& bundle, const Wiring& wiring,
                                       const RuleReporter& reporter);

/// Returns all nodes in the order of a tick, in which every node follows those whose outputs it
/// receives. A group runs without a break; each other node is a group of its own. The result is
/// empty if no order is possible.
LEAPP_EXPORT NodeGroups order_groups(const Wiring& wiring, const NodeGroups& groups);

}  // namespace leapp
