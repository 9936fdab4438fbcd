#include "bundle/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"

namespace leapp {
namespace {

[[noreturn]] void fail(const std::string& file, int line, int column, const std::string& what) {
  throw Error(rule(2),
              file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": [B2] " + what);
}

/// Passes the text to yaml-cpp in pieces, and stops if much was read without an event: yaml-cpp
/// keeps every token between "[" and "]", because it might be a key, at 200 bytes per token.
class RationedBuffer : public std::streambuf {
 public:
  RationedBuffer(std::string_view text, std::size_t ration) : text_(text), ration_(ration) {}

  /// Renews the limit of bytes without an event. Called on every event.
  void renew(const YAML::Mark& mark) noexcept {
    if (exhausted_) return;
    renewed_at_ = handed_out_;
    last_mark_ = mark;
  }
  bool is_exhausted() const noexcept { return exhausted_; }
  /// Returns the last event before the limit was reached.
  const YAML::Mark& last_mark() const noexcept { return last_mark_; }

 protected:
  int_type underflow() override {
    exhausted_ = exhausted_ || handed_out_ - renewed_at_ > ration_;
    if (exhausted_ || handed_out_ == text_.size()) return traits_type::eof();
    const std::size_t size = std::min<std::size_t>(4096, text_.size() - handed_out_);
    char* const begin = const_cast<char*>(text_.data()) + handed_out_;  // never written to
    setg(begin, begin, begin + size);
    handed_out_ += size;
    return traits_type::to_int_type(*begin);
  }

 private:
  std::string_view text_;
  std::size_t ration_;
  std::size_t handed_out_ = 0;
  std::size_t renewed_at_ = 0;
  bool exhausted_ = false;
  YAML::Mark last_mark_;
};

/// Counts the nodes of a tree; long text counts like the nodes that would use the same memory.
std::size_t weight_of(const YamlNode& node) {
  std::size_t weight = 1 + node.text.size() / sizeof(YamlNode);
  for (const YamlNode& item : node.items) weight += weight_of(item);
  for (const YamlEntry& entry : node.entries) {
    weight += weight_of(entry.key) + weight_of(entry.value);
  }
  return weight;
}

std::size_t height_of(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kScalar) return 0;
  std::size_t height = 0;
  for (const YamlNode& item : node.items) height = std::max(height, height_of(item));
  for (const YamlEntry& entry : node.entries) height = std::max(height, height_of(entry.value));
  return height + 1;
}

/// Builds a tree from events, and stops the parser at the first event that is not allowed.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, const YamlLimits& limits, RationedBuffer& input)
      : file_(file), limits_(limits), input_(input) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish(make(mark, YamlNode::Kind::kScalar), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    input_.renew(mark);
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "this alias refers to a node that contains it");
    charge(mark, found->second.weight);
    if (stack_.size() + found->second.height > limits_.max_depth) refuse_depth(mark);
    if (expects_key()) refuse(mark, "a key must be a plain string, not an alias");
    YamlNode copy = found->second.node;
    copy.line = mark.line + 1;
    copy.column = mark.column + 1;
    add(std::move(copy));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(mark, YamlNode::Kind::kScalar);
    node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    node.text = value;
    if (expects_key() && value == "<<" && !node.quoted) {
      refuse(mark, "a bundle may not contain merge keys (<<); write out the keys");
    }
    finish(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, YamlNode::Kind::kMapping);
  }
  void OnMapEnd() override { close(); }

 private:
  // A collection that is still being read.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::unordered_set<std::string> keys;
    bool expects_value = false;  // a mapping after its key was read
  };

  // The target of an alias, with the cost of repeating it.
  struct Anchored {
    YamlNode node;
    std::size_t weight = 0;
    std::size_t height = 0;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what) const {
    fail(file_, mark.line + 1, mark.column + 1, what);
  }

  [[noreturn]] void refuse_depth(const YAML::Mark& mark) const {
    refuse(mark, "nested deeper than " + std::to_string(limits_.max_depth) + " levels");
  }

  bool expects_key() const {
    return !stack_.empty() && stack_.back().node.kind == YamlNode::Kind::kMapping &&
           !stack_.back().expects_value;
  }

  void charge(const YAML::Mark& mark, std::size_t weight) {
    weight_ += weight;
    if (weight_ > limits_.max_nodes) {
      refuse(mark,
             "more than " + std::to_string(limits_.max_nodes) + " values, the limit for a bundle");
    }
  }

  YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) {
    input_.renew(mark);
    charge(mark, 1);
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (stack_.size() >= limits_.max_depth) refuse_depth(mark);
    YamlNode node = make(mark, kind);
    if (expects_key()) refuse(mark, "a key must be a plain string, not a " + describe(node));
    stack_.push_back({std::move(node), anchor, {}, false});
  }

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    finish(std::move(done.node), done.anchor);
  }

  void finish(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) {
      YAML::Mark mark;
      mark.line = node.line - 1;
      mark.column = node.column - 1;
      const std::size_t weight = weight_of(node);
      charge(mark, weight);
      anchors_[anchor] = {node, weight, height_of(node)};
    }
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.kind == YamlNode::Kind::kSequence) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.expects_value) {
      parent.node.entries.back().value = std::move(node);
      parent.expects_value = false;
    } else {
      if (!parent.keys.insert(node.text).second) {
        fail(file_, node.line, node.column, "the key " + describe(node) + " appears twice");
      }
      parent.node.entries.push_back({std::move(node), {}});
      parent.expects_value = true;
    }
  }

  const std::string& file_;
  const YamlLimits& limits_;
  RationedBuffer& input_;
  std::vector<Open> stack_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  YamlNode root_;
  std::size_t weight_ = 0;
};

/// Returns the position of a byte.
std::pair<int, int> line_and_column(std::string_view text, std::size_t offset) {
  int line = 1;
  int column = 1;
  for (const char c : text.substr(0, offset)) {
    column = c == '\n' ? 1 : column + 1;
    if (c == '\n') ++line;
  }
  return {line, column};
}

void check_encoding(std::string_view text, const std::string& file) {
  const std::size_t offset = std::min(find_invalid_utf8(text), text.find('\0'));
  if (offset == std::string_view::npos) return;
  const auto [line, column] = line_and_column(text, offset);
  fail(file, line, column, "the file is not valid UTF-8");
}

/// Throws if the text was truncated, because any other error is then a consequence.
void check_ration(const RationedBuffer& buffer, const std::string& file, const YamlLimits& limits) {
  if (!buffer.is_exhausted()) return;
  fail(file, buffer.last_mark().line + 1, buffer.last_mark().column + 1,
       "the list, mapping or string that starts here has more than " +
           std::to_string(limits.max_lookahead) + " bytes");
}

}  // namespace

bool YamlNode::is_null() const noexcept {
  return kind == Kind::kScalar && !quoted &&
         (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
}

const YamlNode* YamlNode::find(std::string_view key) const noexcept {
  for (const YamlEntry& entry : entries) {
    if (entry.key.text == key) return &entry.value;
  }
  return nullptr;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kSequence:
      return "list";
    case YamlNode::Kind::kMapping:
      return "mapping";
    case YamlNode::Kind::kScalar:
      break;
  }
  return node.is_null() ? "null" : quote_for_message(node.text);
}

std::string position(const std::string& file, const YamlNode& node) {
  return file + ":" + std::to_string(node.line) + ":" + std::to_string(node.column) + ": ";
}

YamlNode parse_yaml(std::string_view text, const std::string& file, const YamlLimits& limits) {
  check_encoding(text, file);
  RationedBuffer buffer(text, limits.max_lookahead);
  std::istream stream(&buffer);
  TreeBuilder builder(file, limits, buffer);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) fail(file, 1, 1, "the file is empty");
    YamlNode root = builder.take_root();
    TreeBuilder second(file, limits, buffer);
    if (parser.HandleNextDocument(second)) {
      const YamlNode extra = second.take_root();
      fail(file, extra.line, extra.column,
           "a second YAML document starts here, but a bundle has one");
    }
    check_ration(buffer, file, limits);
    return root;
  } catch (const YAML::Exception& error) {
    check_ration(buffer, file, limits);
    fail(file, error.mark.line + 1, error.mark.column + 1, "not valid YAML: " + error.msg);
  } catch (const Error&) {
    check_ration(buffer, file, limits);
    throw;
  }
}

}  // namespace leapp
