#include "torch_engine/archive.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/frontend/lexer.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/check.h"
#include "runtime/engines/operators.h"
#include "torch_engine/archive_pickle.h"

namespace leapp {
namespace {

namespace jit = torch::jit;
using caffe2::serialize::PyTorchStreamReader;

// A limit above any program that libtorch writes: each level uses stack of its parser.
constexpr std::size_t kMaxDepth = 400;
constexpr std::size_t kMaxSource = std::size_t{64} << 20;

class Memory final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit Memory(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t pos, void* to, std::size_t count, const char*) const override {
    if (pos >= bytes_.size()) return 0;
    const std::size_t there = std::min(count, bytes_.size() - static_cast<std::size_t>(pos));
    std::memcpy(to, bytes_.data() + pos, there);
    return there;
  }

 private:
  std::span<const std::byte> bytes_;
};

// Names that give TorchScript access to an operator without `ops.namespace`.
const std::unordered_set<std::string>& operator_names() {
  static const std::unordered_set<std::string>& names = *new std::unordered_set<std::string>([] {
    std::unordered_set<std::string> found;
    for (const std::shared_ptr<jit::Operator>& each : jit::getAllOperators()) {
      const std::string& name = each->schema().name();
      const std::size_t colons = name.find("::");
      const std::string_view space = std::string_view(name).substr(0, colons);
      if (space == "aten" || space == "prim") found.insert(name.substr(colons + 2));
    }
    return found;
  }());
  return names;
}

// The text between the quotes; empty if it contains a backslash, which may hide its meaning.
std::string literal_text(std::string_view token) {
  const std::size_t quote = token.find_first_of("'\"");
  if (quote == std::string_view::npos || token.find('\\') != std::string_view::npos) return {};
  token.remove_prefix(quote);
  const std::size_t width = token.starts_with("'''") || token.starts_with("\"\"\"") ? 3 : 1;
  if (token.size() < 2 * width) return {};
  return std::string(token.substr(width, token.size() - 2 * width));
}

// Before PyTorch 2.8, Token::text() is not const.
std::string text_of(const jit::Token& token) {
  return std::string(token.range.token_text());
}

// Reads the tokens of one source in order.
class SourceCheck {
 public:
  /// Returns why this source is refused; empty if it is accepted.
  std::string find_fault(const std::string& text) {
    jit::Lexer lexer(std::make_shared<jit::Source>(text));
    while (lexer.cur().kind != jit::TK_EOF) {
      const jit::Token token = lexer.next();
      if (std::string fault = take(token); !fault.empty()) return fault;
      require(depth_ <= kMaxDepth, Code::kBadModel, "its code is nested too deeply");
      before_last_ = std::move(last_);
      last_ = text_of(token);
    }
    return {};
  }

 private:
  std::string take(const jit::Token& token) {
    count_depth(token.kind);
    if (token.kind == jit::TK_STRINGLITERAL) return take_literal(text_of(token));
    literal_.clear();
    if (namespace_follows_) {
      namespace_follows_ = false;
      if (token.kind != '.') return "it uses torch.ops as a value";
      namespace_named_ = true;
      return {};
    }
    const std::string word = text_of(token);
    if (namespace_named_) {
      namespace_named_ = false;
      // PyTorch implements those of torch_nn in Python, by operators that compute.
      return word == "aten" || word == "prim" || word == "torch_nn"
                 ? std::string()
                 : "its code calls operators of '" + word + "'";
    }
    if (token.kind != jit::TK_IDENT) return {};
    if (word == "ops") namespace_follows_ = last_ != ".";
    if (word == "classes" && last_ == "." && before_last_ == "torch") {
      return "it holds an object of a C++ class";
    }
    uses_getattr_ |= word == "getattr";
    if (last_ == ".") return name_fault(word);  // a single word is never an operator
    return is_action(word) ? "its code calls '" + word + "'" : "";
  }

  // getattr(torch, "save") is torch.save, and "sa" "ve" is "save".
  std::string take_literal(const std::string& token) {
    if (!uses_getattr_) return {};
    const std::string part = literal_text(token);
    if (part.empty() && token.find('\\') != std::string::npos) {
      return "its code reads attributes whose names cannot be checked";
    }
    literal_ += part;
    if (literal_ == "ops") return "it uses torch.ops as a value";
    return name_fault(literal_);
  }

  static std::string name_fault(const std::string& name) {
    if (only_computes(name) || !operator_names().contains(name)) return {};
    return "its code calls '" + name + "'";
  }

  // Structures in which the parser and the compiler recurse: brackets, blocks, chains of operators.
  void count_depth(int kind) {
    switch (kind) {
      case '(':
      case '[':
      case '{':
        levels_.push_back(0);
        break;
      case ')':
      case ']':
      case '}':
        if (levels_.size() > 1) levels_.pop_back();
        break;
      case ',':
      case jit::TK_NEWLINE:
        levels_.back() = 0;
        break;
      case jit::TK_INDENT:
        levels_.back() = 0;
        ++blocks_;
        break;
      case jit::TK_DEDENT:
        if (blocks_ > 0) --blocks_;
        break;
      case jit::TK_DEF:
        chained_ = 0;
        break;
      case jit::TK_ELIF:
        ++chained_;
        break;
      case jit::TK_IDENT:
      case jit::TK_NUMBER:
      case jit::TK_STRINGLITERAL:
        return;
      default:
        ++levels_.back();
    }
    depth_ = levels_.size() + blocks_ + chained_;
    for (const std::size_t level : levels_) depth_ += level;
  }

  std::vector<std::size_t> levels_ = {0};  // operators since the last comma, per open bracket
  std::size_t blocks_ = 0;
  std::size_t chained_ = 0;  // elif, which the parser treats as nested blocks
  std::size_t depth_ = 0;
  std::string last_;
  std::string before_last_;
  std::string literal_;  // consecutive strings are joined
  bool uses_getattr_ = false;
  bool namespace_follows_ = false;
  bool namespace_named_ = false;
};

std::string record_text(PyTorchStreamReader& reader, const std::string& name) {
  require(reader.getRecordSize(name) <= kMaxSource, Code::kBadModel, "its code is too large");
  const auto [data, size] = reader.getRecord(name);
  require(size > 0, Code::kBadModel, "its record '" + name + "' is empty");
  return {static_cast<const char*>(data.get()), size};
}

std::string find_fault(PyTorchStreamReader& reader, std::size_t file_size) {
  std::set<std::string> names;  // in one case: libtorch finds records in either
  SourceCheck source;
  for (const std::string& name : reader.getAllRecords()) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    require(names.insert(lower).second, Code::kBadModel, "it has two records '" + name + "'");
    if (lower == "model.json") return "it has a format that libtorch can read only by running it";
    if (lower.ends_with(".py")) {
      if (std::string fault = source.find_fault(record_text(reader, name)); !fault.empty()) {
        return fault;
      }
    } else if (lower.ends_with(".pkl")) {
      const std::string pickle = record_text(reader, name);
      for (const char* made : {"torch.classes", "torch\nclasses"}) {
        if (pickle.find(made) != std::string::npos) return "it holds an object of a C++ class";
      }
      if (lower != "data.pkl" && lower != "constants.pkl") continue;
      const std::string folder = lower.substr(0, lower.size() - 4) + "/";
      if (std::string fault = find_pickle_fault(reader, pickle, folder); !fault.empty()) {
        return fault;
      }
    } else if (lower.ends_with(".debug_pkl")) {
      if (std::string fault = find_pickle_fault(reader, record_text(reader, name), "");
          !fault.empty()) {
        return fault;
      }
    } else {
      require(reader.getRecordSize(name) <= file_size, Code::kBadModel,
              "its record '" + name + "' is compressed");
    }
  }
  return {};
}

}  // namespace

std::shared_ptr<caffe2::serialize::ReadAdapterInterface> archive_over(const ModelFile& file) {
  return std::make_shared<Memory>(file.bytes);
}

void check_archive(const Model& node, const ModelFile& file) {
  if (file.trust == Trust::kCode) return;
  PyTorchStreamReader reader(archive_over(file));
  std::string fault;
  try {
    fault = find_fault(reader, file.bytes.size());
  } catch (const Error& error) {
    throw error.behind("node '" + node.name + "': " + file.path.string() +
                       " could not be loaded as TorchScript: ");
  }
  if (fault.empty()) return;
  throw Error(Code::kNotTrusted,
              "node '" + node.name + "': " + file.path.string() +
                  " contains executable code: " + fault +
                  ", which is not on the list of operators that only compute. If you trust its "
                  "author, load it with trust=\"code\" (C++: Trust::kCode; command: --trust-code); "
                  "see docs/explanation/security.md");
}

}  // namespace leapp
