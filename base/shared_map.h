// SharedMap: an ordered map whose copies share what is equal in them. A copy costs nothing, a change of one
// entry O(log n), and ForEachChange finds what differs between two versions at the cost of the difference. What
// a change of the network state costs must not depend on how much of it there is: every stage keeps its value
// in such maps and makes the next version of it from the changes of the stage before.
//
// The const interface is std::map's. What changes a map copies the nodes that another map holds too and changes
// the others in place, so that a map that is built once costs what a std::map does.
//
// Threads: as a std::map, although copies share nodes: each copy may be read or changed by a thread of its own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace kasane {

template <typename Key, typename Value>
class SharedMap {
  // An AVL tree. A node that several trees hold never changes.
  struct Node;

  class Pointer {
   public:
    Pointer() = default;
    explicit Pointer(Node* fresh) : node_(fresh) {}  // Takes over the first reference.
    Pointer(const Pointer& other) : node_(other.node_) {
      if (node_ != nullptr) node_->references.fetch_add(1, std::memory_order_relaxed);
    }
    Pointer(Pointer&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Pointer& operator=(Pointer other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Pointer() {
      if (node_ != nullptr && node_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
    }

    Node* get() const { return node_; }
    Node* operator->() const { return node_; }
    bool IsShared() const { return node_->references.load(std::memory_order_acquire) != 1; }

   private:
    Node* node_ = nullptr;
  };

  struct Node {
    explicit Node(std::pair<const Key, Value> pair) : entry(std::move(pair)) {}
    Node(const Node& other) : height(other.height), left(other.left), right(other.right), entry(other.entry) {}
    Node& operator=(const Node&) = delete;

    std::atomic<uint32_t> references = 1;
    uint8_t height = 1;
    Pointer left;
    Pointer right;
    std::pair<const Key, Value> entry;
  };

  // An AVL tree of 2^33 nodes is not higher.
  static constexpr size_t kMaxHeight = 48;

 public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = std::pair<const Key, Value>;

  // Invalid once the map is changed.
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::pair<const Key, Value>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    const_iterator() = default;
    const_iterator(const const_iterator& other) { *this = other; }
    const_iterator& operator=(const const_iterator& other) {
      depth_ = other.depth_;
      for (size_t i = 0; i < depth_; ++i) path_[i] = other.path_[i];
      return *this;
    }

    reference operator*() const { return Top()->entry; }
    pointer operator->() const { return &Top()->entry; }
    const_iterator& operator++() {
      const Node* node = path_[--depth_];
      DescendLeft(node->right.get());
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const const_iterator& other) const {
      if (depth_ == 0 || other.depth_ == 0) return depth_ == other.depth_;
      return Top() == other.Top();
    }

   private:
    friend SharedMap;

    const Node* Top() const { return path_[depth_ - 1]; }
    void Push(const Node* node) { path_[depth_++] = node; }
    void DescendLeft(const Node* node) {
      for (; node != nullptr; node = node->left.get()) Push(node);
    }

    // The node, and below it those of its ancestors that come after it.
    std::array<const Node*, kMaxHeight> path_;
    size_t depth_ = 0;
  };
  using iterator = const_iterator;

  SharedMap() = default;
  SharedMap(std::initializer_list<value_type> entries) {
    for (const value_type& entry : entries) emplace(entry.first, entry.second);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  const_iterator begin() const {
    const_iterator it;
    it.DescendLeft(root_.get());
    return it;
  }
  const_iterator end() const { return {}; }

  template <typename AnyKey>
  const_iterator lower_bound(const AnyKey& key) const {
    const_iterator it;
    for (const Node* node = root_.get(); node != nullptr;) {
      const bool before = node->entry.first < key;
      if (!before) it.Push(node);
      node = (before ? node->right : node->left).get();
    }
    return it;
  }
  template <typename AnyKey>
  const_iterator upper_bound(const AnyKey& key) const {
    const_iterator it;
    for (const Node* node = root_.get(); node != nullptr;) {
      const bool after = key < node->entry.first;
      if (after) it.Push(node);
      node = (after ? node->left : node->right).get();
    }
    return it;
  }
  const_iterator find(const Key& key) const {
    const_iterator it = lower_bound(key);
    return it == end() || key < it->first ? end() : it;
  }
  // The value of `key`, or nullptr.
  const Value* Find(const Key& key) const {
    for (const Node* node = root_.get(); node != nullptr;) {
      if (key < node->entry.first) {
        node = node->left.get();
      } else if (node->entry.first < key) {
        node = node->right.get();
      } else {
        return &node->entry.second;
      }
    }
    return nullptr;
  }
  bool contains(const Key& key) const { return Find(key) != nullptr; }
  size_t count(const Key& key) const { return contains(key) ? 1 : 0; }
  const Value& at(const Key& key) const {
    const Value* value = Find(key);
    KASANE_CHECK(value != nullptr);
    return *value;
  }

  // Inserts unless the key is there. Whether it did.
  template <typename... Arguments>
  bool try_emplace(const Key& key, Arguments&&... arguments) {
    if (contains(key)) return false;
    Pointer fresh(new Node(value_type(std::piecewise_construct, std::forward_as_tuple(key),
                                      std::forward_as_tuple(std::forward<Arguments>(arguments)...))));
    root_ = Insert(std::move(root_), std::move(fresh));
    ++size_;
    return true;
  }
  bool emplace(const Key& key, Value value) { return try_emplace(key, std::move(value)); }
  // Whether the key is new.
  bool insert_or_assign(const Key& key, Value value) {
    if (try_emplace(key, std::move(value))) return true;
    *Change(key) = std::move(value);  // NOLINT(bugprone-use-after-move): nothing was moved if the key is there.
    return false;
  }
  size_t erase(const Key& key) {
    if (!contains(key)) return 0;
    root_ = Remove(std::move(root_), key);
    --size_;
    return 1;
  }
  void clear() { *this = SharedMap(); }

  // As std::erase_if.
  template <typename Predicate>
  friend size_t erase_if(SharedMap& map, const Predicate& predicate) {
    const SharedMap before = map;
    for (const value_type& entry : before) {
      if (predicate(entry)) map.erase(entry.first);
    }
    return before.size() - map.size();
  }

  // To change it, or nullptr. Valid until the map is changed otherwise, or copied.
  Value* Change(const Key& key) {
    if (!contains(key)) return nullptr;
    Pointer* at = &root_;
    for (;;) {
      Node* node = Own(*at);
      if (key < node->entry.first) {
        at = &node->left;
      } else if (node->entry.first < key) {
        at = &node->right;
      } else {
        return &node->entry.second;
      }
    }
  }
  // As Change; inserts if the key is not there.
  Value& operator[](const Key& key) {
    try_emplace(key);
    return *Change(key);
  }

  bool operator==(const SharedMap& other) const {
    if (size_ != other.size_) return false;
    return VisitDifference(*this, other, [](const Key&, const Value*, const Value*) { return false; });
  }

  // `visit(key, before, after)` for each key whose values differ, in their order; nullptr: the key is not
  // there.
  template <typename Visit>
  friend void ForEachChange(const SharedMap& before, const SharedMap& after, const Visit& visit) {
    VisitDifference(before, after, [&](const Key& key, const Value* old_value, const Value* new_value) {
      visit(key, old_value, new_value);
      return true;
    });
  }

 private:
  // --- Changes. Each function takes a tree over and returns what became of it. ---

  // The node, copied first if another tree holds it too.
  static Node* Own(Pointer& at) {
    if (at.IsShared()) at = Pointer(new Node(*at.get()));
    return at.get();
  }

  static int Height(const Pointer& tree) { return tree.get() == nullptr ? 0 : tree->height; }
  static void SetHeight(Node& node) {
    node.height = static_cast<uint8_t>(1 + std::max(Height(node.left), Height(node.right)));
  }

  static Pointer RotateRight(Pointer tree) {
    Pointer top = std::move(Own(tree)->left);
    Own(top);
    tree->left = std::move(top->right);
    SetHeight(*tree.get());
    top->right = std::move(tree);
    SetHeight(*top.get());
    return top;
  }
  static Pointer RotateLeft(Pointer tree) {
    Pointer top = std::move(Own(tree)->right);
    Own(top);
    tree->right = std::move(top->left);
    SetHeight(*tree.get());
    top->left = std::move(tree);
    SetHeight(*top.get());
    return top;
  }

  // `tree` is owned, and one of its subtrees has changed by one level.
  static Pointer Balance(Pointer tree) {
    SetHeight(*tree.get());
    const int lean = Height(tree->left) - Height(tree->right);
    if (lean > 1) {
      if (Height(tree->left->left) < Height(tree->left->right)) tree->left = RotateLeft(std::move(tree->left));
      return RotateRight(std::move(tree));
    }
    if (lean < -1) {
      if (Height(tree->right->right) < Height(tree->right->left))
        tree->right = RotateRight(std::move(tree->right));
      return RotateLeft(std::move(tree));
    }
    return tree;
  }

  static Pointer Insert(Pointer tree, Pointer fresh) {
    if (tree.get() == nullptr) return fresh;
    Node* node = Own(tree);
    Pointer& side = fresh->entry.first < node->entry.first ? node->left : node->right;
    side = Insert(std::move(side), std::move(fresh));
    return Balance(std::move(tree));
  }

  // The key is there.
  static Pointer Remove(Pointer tree, const Key& key) {
    const bool left = key < tree->entry.first;
    if (!left && !(tree->entry.first < key)) return Join(tree->left, tree->right);
    Node* node = Own(tree);
    Pointer& side = left ? node->left : node->right;
    side = Remove(std::move(side), key);
    return Balance(std::move(tree));
  }

  // Two subtrees of one node.
  static Pointer Join(Pointer left, Pointer right) {
    if (left.get() == nullptr) return right;
    if (right.get() == nullptr) return left;
    Pointer first;
    right = TakeFirst(std::move(right), first);
    first->left = std::move(left);
    first->right = std::move(right);
    return Balance(std::move(first));
  }
  // `first` is owned, and without subtrees.
  static Pointer TakeFirst(Pointer tree, Pointer& first) {
    Node* node = Own(tree);
    if (node->left.get() == nullptr) {
      Pointer rest = std::move(node->right);
      first = std::move(tree);
      return rest;
    }
    node->left = TakeFirst(std::move(node->left), first);
    return Balance(std::move(tree));
  }

  // --- Differences ---

  // What of a tree is still to be visited, the next on top: subtrees as a whole, and nodes without theirs.
  class Pending {
   public:
    explicit Pending(const Node* root) { Push(root, true); }

    bool empty() const { return size_ == 0; }
    const Node* node() const { return nodes_[size_ - 1]; }
    bool whole() const { return whole_[size_ - 1]; }
    void Pop() { --size_; }
    // Replaces the whole subtree on top by its parts.
    void Expand() {
      const Node* top = node();
      Pop();
      Push(top->right.get(), true);
      Push(top, false);
      Push(top->left.get(), true);
    }

   private:
    void Push(const Node* node, bool whole) {
      if (node == nullptr) return;
      nodes_[size_] = node;
      whole_[size_++] = whole;
    }

    std::array<const Node*, 2 * kMaxHeight> nodes_;
    std::array<bool, 2 * kMaxHeight> whole_;
    size_t size_ = 0;
  };

  // Stops as soon as `visit` returns false, and then returns false itself. What both trees hold is skipped
  // unseen.
  template <typename Visit>
  static bool VisitDifference(const SharedMap& before, const SharedMap& after, const Visit& visit) {
    Pending left(before.root_.get());
    Pending right(after.root_.get());
    while (!left.empty() || !right.empty()) {
      if (!left.empty() && !right.empty() && left.node() == right.node() && left.whole() == right.whole()) {
        left.Pop();
        right.Pop();
      } else if (ExpandsNext(left, right)) {
        left.Expand();
      } else if (!right.empty() && right.whole()) {
        right.Expand();
      } else if (!VisitNext(left, right, visit)) {
        return false;
      }
    }
    return true;
  }

  // Whether the subtree on top of `left` is to be expanded before that of `right`: the higher one first, since
  // the other may be a part of it.
  static bool ExpandsNext(const Pending& left, const Pending& right) {
    if (left.empty() || !left.whole()) return false;
    return right.empty() || !right.whole() || left.node()->height >= right.node()->height;
  }

  // Single nodes are on top, where there are any.
  template <typename Visit>
  static bool VisitNext(Pending& left, Pending& right, const Visit& visit) {
    if (right.empty() || (!left.empty() && left.node()->entry.first < right.node()->entry.first)) {
      const auto& entry = left.node()->entry;
      left.Pop();
      return visit(entry.first, &entry.second, nullptr);
    }
    const auto& entry = right.node()->entry;
    if (left.empty() || entry.first < left.node()->entry.first) {
      right.Pop();
      return visit(entry.first, nullptr, &entry.second);
    }
    const Value& old_value = left.node()->entry.second;
    left.Pop();
    right.Pop();
    return old_value == entry.second || visit(entry.first, &old_value, &entry.second);
  }

  Pointer root_;
  size_t size_ = 0;
};

// The keys alone.
struct Present {
  bool operator==(const Present&) const = default;
};
template <typename Key>
using SharedSet = SharedMap<Key, Present>;

}  // namespace kasane
