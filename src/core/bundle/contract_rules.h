// B25 to B29: the form of a contract that controllers rely on.
#pragma once

#include <optional>
#include <string>

#include "leapp/bundle.h"
#include "leapp/code.h"
#include "leapp/contract.h"

namespace leapp {

/// A broken rule of a key, and the text of its fault.
struct ContractFault {
  Code code;
  std::string key;
  std::string what;
};

/// The contract of a port and its first fault, if it has one. The contract leaves out the key with
/// the fault.
struct ParsedPortContract {
  PortContract contract;
  std::optional<ContractFault> fault;
};
ParsedPortContract parse_contract(const Port& port);

/// The same for `pipeline.configs`.
struct ParsedGraphContract {
  GraphContract contract;
  std::optional<ContractFault> fault;
};
ParsedGraphContract parse_contract(const Metadata::Map& configs);

enum class PortSide { kInput, kOutput };

/// Returns the fault in a port's contract, for an input or output.
LEAPP_EXPORT std::optional<ContractFault> find_contract_fault(const Port& port);

/// Returns the fault, also for keys on the wrong side: only inputs have ages and histories, only
/// outputs fallbacks.
std::optional<ContractFault> find_contract_fault(const Port& port, PortSide side);

/// Returns the fault in the contract of the graph, including its command ranges and ports: B29.
std::optional<ContractFault> find_contract_fault(const Bundle& bundle);

/// Throws Error, B25 to B29, for the first fault in the contract of a bundle. For exporters.
LEAPP_EXPORT void require_contract(const Bundle& bundle);

}  // namespace leapp
