#include "model/files/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/status.h"

namespace kasane::files {
namespace {

// How deep YAML itself lets a document nest before it gives up; ours is less, and reported by us.
static_assert(kMaxDocumentDepth < 500);

bool IsNullText(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

// Builds the tree. After the first error it ignores the rest of the events.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(size_t max_values) : max_values_(max_values) {}

  const absl::Status& status() const { return status_; }
  ValuePtr root() const { return root_ ? root_ : std::make_shared<const Value>(); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) Fail(mark, "a second document begins; put everything in one, or use a file for each");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(Make(Value::Type::kNull, mark), anchor, mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!status_.ok()) return;
    const auto found = anchors_.find(anchor);
    // An alias of a collection that it stands in names one that is not complete.
    if (found == anchors_.end()) return Fail(mark, "the alias refers to something that contains it");
    const Anchor& target = found->second;
    if (open_.size() + target.depth > kMaxDocumentDepth) return FailDepth(mark);
    if (Count(target.values, mark)) Place(target.value, mark, target.values, target.depth);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    auto value = Make(Value::Type::kScalar, mark);
    value->quoted = tag == "!";
    value->text = text;
    if (!value->quoted && IsNullText(text)) value->type = Value::Type::kNull;
    Add(std::move(value), anchor, mark);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(Make(Value::Type::kList, mark), anchor, mark);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(Make(Value::Type::kMap, mark), anchor, mark);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Anchor {
    ValuePtr value;
    size_t values = 1;  // In it, itself included.
    size_t depth = 1;   // Levels in it, itself included.
  };
  // A collection that is being read.
  struct OpenCollection {
    std::shared_ptr<Value> value;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark;
    std::string key;  // Read, its value not yet.
    bool has_key = false;
    size_t values = 1;
    size_t depth = 1;
  };

  static std::shared_ptr<Value> Make(Value::Type type, const YAML::Mark& mark) {
    auto value = std::make_shared<Value>();
    value->type = type;
    value->line = mark.line + 1;
    return value;
  }

  void Fail(const YAML::Mark& mark, std::string_view what) {
    if (status_.ok()) status_ = Invalid("line {}, column {}: {}", mark.line + 1, mark.column + 1, what);
  }
  void FailDepth(const YAML::Mark& mark) {
    Fail(mark, fmt::format("nested deeper than {} levels", kMaxDocumentDepth));
  }

  // Takes `values` off the budget; false, with an error, when it is spent.
  bool Count(size_t values, const YAML::Mark& mark) {
    if (values <= max_values_ - count_) {
      count_ += values;
      return true;
    }
    Fail(mark, fmt::format("more than {} values, aliases expanded; split the file", max_values_));
    return false;
  }

  void Add(std::shared_ptr<Value> value, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (!status_.ok() || !Count(1, mark)) return;
    if (anchor != 0) anchors_[anchor] = {value, 1, 1};
    Place(std::move(value), mark, 1, 1);
  }

  void Open(std::shared_ptr<Value> value, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (!status_.ok() || !Count(1, mark)) return;
    if (open_.size() >= kMaxDocumentDepth) return FailDepth(mark);
    open_.push_back({.value = std::move(value), .anchor = anchor, .mark = mark, .key = {}});
  }

  void Close() {
    if (!status_.ok()) return;
    OpenCollection closed = std::move(open_.back());
    open_.pop_back();
    if (closed.anchor != 0) anchors_[closed.anchor] = {closed.value, closed.values, closed.depth};
    Place(std::move(closed.value), closed.mark, closed.values, closed.depth);
  }

  // Puts a complete value into the collection that is open.
  void Place(ValuePtr value, const YAML::Mark& mark, size_t values, size_t depth) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    OpenCollection& parent = open_.back();
    parent.values += values;
    parent.depth = std::max(parent.depth, depth + 1);
    if (parent.value->type == Value::Type::kList) {
      parent.value->items.push_back(std::move(value));
    } else if (parent.has_key) {
      parent.value->fields.emplace_back(std::move(parent.key), std::move(value));
      parent.has_key = false;
    } else if (value->type == Value::Type::kScalar) {
      parent.key = value->text;
      parent.has_key = true;
    } else {
      Fail(mark, fmt::format("{} stands where a field name is expected", TypeName(*value)));
    }
  }

  const size_t max_values_;
  absl::Status status_;
  ValuePtr root_;
  int documents_ = 0;
  size_t count_ = 0;
  std::vector<OpenCollection> open_;
  std::map<YAML::anchor_t, Anchor> anchors_;
};

}  // namespace

bool Value::IsBoolean() const {
  static constexpr std::string_view kTexts[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
  return type == Type::kScalar && !quoted &&
         std::find(std::begin(kTexts), std::end(kTexts), text) != std::end(kTexts);
}

bool Value::IsNumber() const {
  if (type != Type::kScalar || quoted) return false;
  const size_t sign = text.starts_with('-') ? 1 : 0;
  return text.size() > sign && std::all_of(text.begin() + static_cast<ptrdiff_t>(sign), text.end(),
                                           [](char c) { return c >= '0' && c <= '9'; });
}

const Value* Value::Find(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (field == name) return value.get();
  }
  return nullptr;
}

std::string Value::TextOf(std::string_view name) const {
  const Value* value = Find(name);
  return value != nullptr && value->type == Type::kScalar ? value->text : std::string();
}

bool Value::IsEmpty() const {
  switch (type) {
    case Type::kNull:
      return true;
    case Type::kScalar:
      return text.empty();
    case Type::kList:
      return items.empty();
    case Type::kMap:
      return fields.empty();
  }
  return false;
}

std::string_view TypeName(const Value& value) {
  switch (value.type) {
    case Value::Type::kNull:
      return "null";
    case Value::Type::kList:
      return "a list";
    case Value::Type::kMap:
      return "a mapping";
    case Value::Type::kScalar:
      break;
  }
  if (value.IsBoolean()) return "a boolean";
  return value.IsNumber() ? "a number" : "a string";
}

absl::StatusOr<ValuePtr> ParseDocument(const std::string& text, const DocumentLimits& limits) {
  if (text.size() > limits.bytes) {
    return Invalid("{} bytes long; at most {} are read, split it", text.size(), limits.bytes);
  }
  Builder builder(limits.values);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (builder.status().ok() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    // A builder's error came first in the text.
    if (!builder.status().ok()) return builder.status();
    if (error.mark.is_null()) return Invalid("not YAML or JSON: {}", error.msg);
    return Invalid("line {}, column {}: not YAML or JSON: {}", error.mark.line + 1, error.mark.column + 1,
                   error.msg);
  }
  RETURN_IF_ERROR(builder.status());
  return builder.root();
}

}  // namespace kasane::files
