#include "onnx/admission.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <protozero/exception.hpp>
#include <vector>

#include "base/utf8.h"
#include "leapp/engine.h"
#include "onnx/message.h"

namespace leapp::onnx {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > kMost - b ? kMost : a + b;
}
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > kMost / a ? kMost : a * b;
}

std::mutex domains_mutex;
std::set<std::string, std::less<>>& added_domains() {
  static std::set<std::string, std::less<>>& domains = *new std::set<std::string, std::less<>>();
  return domains;
}

// "ai.onnx" is an alias of ONNX's own domain.
std::string plain_domain(std::string domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

/// A function or the main graph: its own contents, and the functions that it calls.
struct Body {
  std::uint64_t nodes = 0;
  std::map<std::string, std::uint64_t> operators;  // "domain:type", with the number of uses
  // Totals with all called functions, once they are known.
  bool open = false;
  bool known = false;
  std::uint64_t inlined = 0;
  std::uint64_t depth = 0;
};

class Walk {
 public:
  explicit Walk(const Admission& limits) : limits_(limits) {}

  void model(pbf_reader in) {
    while (in.next()) {
      if (is(in, field::model::kGraph)) {
        graph(in.get_message(), 0, main_);
      } else if (is(in, field::model::kFunction)) {
        function(in.get_message());
      } else {
        in.skip();
      }
    }
    for (const auto& [key, body] : functions_) check_operators(body);
    check_operators(main_);
    compute_totals(main_, "its graph");
  }

 private:
  void graph(pbf_reader in, std::uint64_t depth, Body& body) {
    limit(depth, limits_.max_graph_depth, "its graphs are nested", "levels deep");
    while (in.next()) {
      if (is(in, field::graph::kNode)) {
        node(in.get_message(), depth, body);
      } else if (is(in, field::graph::kInitializer)) {
        entry();
        tensor(in.get_message());
      } else if (is(in, field::graph::kSparseInitializer)) {
        entry();
        sparse_tensor(in.get_message());
      } else {
        if (is(in, field::graph::kInput) || is(in, field::graph::kOutput) ||
            is(in, field::graph::kValueInfo)) {
          entry();
        }
        in.skip();
      }
    }
  }

  void node(pbf_reader in, std::uint64_t depth, Body& body) {
    ++body.nodes;
    limit(++nodes_, limits_.max_nodes, "it has", "nodes");
    std::string domain;
    std::string type;
    while (in.next()) {
      if (is(in, field::node::kAttribute)) {
        entry();
        attribute(in.get_message(), depth, body);
      } else if (!text(in, field::node::kDomain, domain) && !text(in, field::node::kOpType, type)) {
        in.skip();
      }
    }
    ++body.operators[plain_domain(std::move(domain)) + ":" + type];
  }

  void attribute(pbf_reader in, std::uint64_t depth, Body& body) {
    while (in.next()) {
      if (is(in, field::attribute::kGraph) || is(in, field::attribute::kGraphs)) {
        graph(in.get_message(), depth + 1, body);
      } else if (is(in, field::attribute::kTensor) || is(in, field::attribute::kTensors)) {
        tensor(in.get_message());
      } else if (is(in, field::attribute::kSparseTensor) ||
                 is(in, field::attribute::kSparseTensors)) {
        sparse_tensor(in.get_message());
      } else {
        in.skip();
      }
    }
  }

  void function(pbf_reader in) {
    limit(++function_count_, limits_.max_functions, "it has", "functions of its own");
    Body body;
    std::string domain;
    std::string name;
    while (in.next()) {
      if (is(in, field::function::kNode)) {
        node(in.get_message(), 0, body);
      } else if (!text(in, field::function::kDomain, domain) &&
                 !text(in, field::function::kName, name)) {
        in.skip();
      }
    }
    domain = plain_domain(std::move(domain));
    function_domains_.insert(domain);
    functions_[domain + ":" + name] = std::move(body);
  }

  void tensor(pbf_reader in) {
    std::vector<std::int64_t> dims;
    std::int32_t type = 0;
    while (in.next()) {
      if (is(in, field::tensor::kDataType, pbf_wire_type::varint)) {
        type = in.get_int32();
      } else if (!int64s(in, field::tensor::kDims, dims)) {
        in.skip();
      }
    }
    weigh(dims, type);
  }

  // ONNX Runtime converts such a tensor to a dense one, so its whole shape counts.
  void sparse_tensor(pbf_reader in) {
    std::vector<std::int64_t> dims;
    std::int32_t type = 0;
    while (in.next()) {
      if (is(in, field::sparse_tensor::kValues)) {
        pbf_reader values = in.get_message();
        while (values.next()) {
          if (is(values, field::tensor::kDataType, pbf_wire_type::varint)) {
            type = values.get_int32();
          } else {
            values.skip();
          }
        }
      } else if (!int64s(in, field::sparse_tensor::kDims, dims)) {
        in.skip();
      }
    }
    weigh(dims, type);
  }

  void weigh(const std::vector<std::int64_t>& dims, std::int32_t type) {
    constexpr std::uint64_t kLargestElement = 16;
    const auto dtype = dtype_of(static_cast<ElementType>(type));
    std::uint64_t bytes = dtype ? size_of(*dtype) : kLargestElement;
    for (const std::int64_t dim : dims) {
      if (dim < 0) damaged("a weight has a negative size");
      bytes = product(bytes, static_cast<std::uint64_t>(dim));
    }
    weight_bytes_ = sum(weight_bytes_, bytes);
    limit(weight_bytes_, limits_.max_weight_bytes, "its weights and constants have", "bytes");
  }

  void entry() {
    limit(++entries_, limits_.max_entries, "it has",
          "inputs, outputs, weights, attributes and value infos");
  }

  void check_operators(const Body& body) const {
    for (const auto& [key, count] : body.operators) {
      const std::string domain = key.substr(0, key.find(':'));
      if (domain.empty() || limits_.domains.contains(domain) ||
          function_domains_.contains(domain)) {
        continue;
      }
      std::string known = "ONNX's own";
      for (const std::string& each : limits_.domains) known += ", " + each;
      damaged("it uses an operator of the domain " + quote_for_message(domain) +
              ", which is not allowed (" + known +
              "); a program that trusts that domain calls leapp::allow_onnx_domain()");
    }
  }

  // The depth of calls below a body, and the number of its nodes with those of all called bodies.
  // The number of functions is already limited, and with it the depth of this recursion.
  void compute_totals(Body& body, const std::string& name) {
    if (body.known) return;
    if (body.open) damaged("its function " + quote_for_message(name) + " calls itself");
    body.open = true;
    body.inlined = body.nodes;
    for (const auto& [key, count] : body.operators) {
      const auto called = functions_.find(key);
      if (called == functions_.end()) continue;
      compute_totals(called->second, key);
      body.inlined = sum(body.inlined, product(count, called->second.inlined));
      body.depth = std::max(body.depth, called->second.depth + 1);
      limit(body.inlined, limits_.max_nodes, "after inlining its functions it has", "nodes");
      limit(body.depth, limits_.max_function_depth, "its functions call each other", "levels deep");
    }
    body.open = false;
    body.known = true;
  }

  static void limit(std::uint64_t found, std::uint64_t most, const char* what, const char* unit) {
    if (found <= most) return;
    damaged(std::string(what) + " more than " + std::to_string(most) + " " + unit +
            ", which is the limit (docs/explanation/security.md)");
  }

  const Admission& limits_;
  Body main_;
  std::map<std::string, Body> functions_;
  std::set<std::string, std::less<>> function_domains_;
  std::uint64_t nodes_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t weight_bytes_ = 0;
  std::uint64_t function_count_ = 0;
};

}  // namespace

std::set<std::string, std::less<>> Admission::default_domains() {
  const std::lock_guard lock(domains_mutex);
  std::set<std::string, std::less<>> domains = added_domains();
  domains.insert({"ai.onnx.ml", "com.microsoft"});
  return domains;
}

void require_admissible(std::span<const std::byte> bytes, const std::string& name,
                        const Admission& limits) {
  std::string why;
  try {
    const data_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    Walk(limits).model(pbf_reader(view));
    return;
  } catch (const protozero::exception& error) {
    why = std::string("the file is not valid ONNX (") + error.what() + ")";
  } catch (const Error& error) {
    why = error.text();
  }
  damaged(name + " could not be loaded as ONNX: " + why);
}

}  // namespace leapp::onnx

namespace leapp {

void allow_onnx_domain(const std::string& domain) {
  const std::lock_guard lock(onnx::domains_mutex);
  onnx::added_domains().insert(domain);
}

}  // namespace leapp
