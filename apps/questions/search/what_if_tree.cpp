#include "apps/questions/search/what_if_tree.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>

#include "sim/core/parallel.h"

namespace foretrace {
namespace {

/// What stacks begin with.
struct Node {
  Node* parent = nullptr;  ///< null: nothing is applied
  std::size_t step = 0;
  std::atomic<std::size_t> users = 0;  ///< stacks that begin so and have not been visited
  std::once_flag once{};
  std::optional<WhatIfStack> stack{};  ///< none if a step cannot be applied
};

class Tree {
 public:
  Tree(const Recording& recording, const StackSteps& steps) : steps_(steps) {
    root_.stack.emplace(recording);
  }

  /// Paths in lexicographic order; the nodes of the last path come first in each.
  Node& add(std::span<const std::size_t> path) {
    std::size_t depth = 0;
    while (depth < std::min(last_.size(), path.size()) && last_[depth]->step == path[depth]) {
      ++depth;
    }
    last_.resize(depth);
    for (; depth < path.size(); ++depth) {
      Node& node = nodes_.emplace_back();
      node.parent = depth == 0 ? &root_ : last_.back();
      node.step = path[depth];
      last_.push_back(&node);
    }
    for (Node* const node : last_) ++node->users;
    return last_.empty() ? root_ : *last_.back();
  }

  const std::optional<WhatIfStack>& stack_of(Node& node) const {
    if (node.parent != nullptr) {
      std::call_once(node.once, [&] {
        node.stack = stack_of(*node.parent);
        const Neutral neutral = node.step < steps_.given ? Neutral::keep : Neutral::refuse;
        if (node.stack && !node.stack->push(steps_.what_ifs[node.step], neutral).ok()) {
          node.stack.reset();
        }
      });
    }
    return node.stack;
  }

  /// One of its users is done.
  static void leave(Node& leaf) {
    for (Node* node = &leaf; node->parent != nullptr; node = node->parent) {
      if (node->users.fetch_sub(1) == 1) node->stack.reset();
    }
  }

 private:
  const StackSteps& steps_;
  Node root_;
  std::deque<Node> nodes_;
  std::vector<Node*> last_;
};

}  // namespace

void for_each_stack(const Recording& recording, const StackSteps& steps,
                    std::span<const std::vector<std::size_t>> stacks,
                    const std::function<void(std::size_t, const WhatIfStack*)>& visit) {
  // Neighbours share most.
  std::vector<std::size_t> order(stacks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stacks[a] != stacks[b] ? stacks[a] < stacks[b] : a < b;
  });
  Tree tree(recording, steps);
  std::vector<Node*> leaves;
  leaves.reserve(order.size());
  for (const std::size_t i : order) {
    leaves.push_back(&tree.add(stacks[i]));
  }
  for_each_index(order.size(), [&](std::size_t at) {
    Node& leaf = *leaves[at];
    const std::optional<WhatIfStack>& stack = tree.stack_of(leaf);
    visit(order[at], stack ? &*stack : nullptr);
    Tree::leave(leaf);
  });
}

}  // namespace foretrace
