// B25 to B29: whether a bundle's contract has the form that controllers rely on.
#pragma once

#include <optional>
#include <string>

#include "leapp/bundle.h"
#include "leapp/code.h"
#include "leapp/contract.h"

namespace leapp {

/// A broken rule of a key, and the end of a sentence about it.
struct ContractFault {
  Code code;
  std::string key;
  std::string what;
};

/// The contract of a port and the first thing that is wrong with it, if there is one. What is wrong
/// is left out of the contract.
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

/// Does the same with the side: only inputs have ages and histories, only outputs fallbacks.
std::optional<ContractFault> find_contract_fault(const Port& port, PortSide side);

/// Returns the fault in the contract of the graph, including command ranges and ports: B29.
std::optional<ContractFault> find_contract_fault(const Bundle& bundle);

/// Throws Error, B25 to B29, for the first fault in the contract of a bundle. For exporters.
LEAPP_EXPORT void require_contract(const Bundle& bundle);

}  // namespace leapp
