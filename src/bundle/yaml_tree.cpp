#include "bundle/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <unordered_set>
#include <utility>

#include "bundle/utf8.h"
#include "bundle/view_buffer.h"

namespace leapp {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxNodes = 4'000'000;

[[noreturn]] void fail(const std::string& file, int line, int column, const std::string& what) {
  throw Error(ErrorKind::kValue,
              file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": [B2] " + what);
}

/// Collects events into a tree, and stops the parser at the first one that is not allowed.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& file) : file_(file) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(mark, anchor, YamlNode::Kind::kScalar));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_anchors(mark); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(mark, anchor, YamlNode::Kind::kScalar);
    node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    node.text = value;
    add(std::move(node));
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
    std::unordered_set<std::string> keys;
    bool expects_value = false;  // a mapping that has read a key
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what) const {
    fail(file_, mark.line + 1, mark.column + 1, what);
  }

  [[noreturn]] void refuse_anchors(const YAML::Mark& mark) const {
    refuse(mark, "anchors and aliases are not part of a bundle; write the value out");
  }

  YamlNode make(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (anchor != 0) refuse_anchors(mark);
    if (++nodes_ > kMaxNodes) {
      refuse(mark, "more than " + std::to_string(kMaxNodes) + " values; this is no bundle");
    }
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (stack_.size() >= kMaxDepth) {
      refuse(mark, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    YamlNode node = make(mark, anchor, kind);
    if (!stack_.empty() && stack_.back().node.kind == YamlNode::Kind::kMapping &&
        !stack_.back().expects_value) {
      refuse(mark, "a key must be a plain word, not a " + describe(node));
    }
    stack_.push_back({std::move(node), {}, false});
  }

  void close() {
    YamlNode done = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(done));
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
        fail(file_, node.line, node.column, "the key " + describe(node) + " stands here twice");
      }
      parent.node.entries.push_back({std::move(node), {}});
      parent.expects_value = true;
    }
  }

  const std::string& file_;
  std::vector<Open> stack_;
  YamlNode root_;
  std::size_t nodes_ = 0;
};

void check_encoding(std::string_view text, const std::string& file) {
  const std::size_t bad = find_invalid_utf8(text);
  const std::size_t nul = text.find('\0');
  if (bad == std::string_view::npos && nul == std::string_view::npos) return;
  const std::size_t offset = std::min(bad, nul);
  int line = 1;
  int column = 1;
  for (const char c : text.substr(0, offset)) {
    column = c == '\n' ? 1 : column + 1;
    if (c == '\n') ++line;
  }
  fail(file, line, column, "the file is not UTF-8 text");
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

YamlNode parse_yaml(std::string_view text, const std::string& file) {
  check_encoding(text, file);
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  TreeBuilder builder(file);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) fail(file, 1, 1, "the file is empty");
    YamlNode root = builder.take_root();
    TreeBuilder second(file);
    if (parser.HandleNextDocument(second)) {
      const YamlNode extra = second.take_root();
      fail(file, extra.line, extra.column, "a second document starts here; a bundle has one");
    }
    return root;
  } catch (const YAML::Exception& error) {
    fail(file, error.mark.line + 1, error.mark.column + 1, "not valid YAML: " + error.msg);
  }
}

}  // namespace leapp
