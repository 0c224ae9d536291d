// Finds tensors by sizes.
#include "trace/annotate/tensors/tensor_pool.h"

#include <algorithm>

namespace foretrace::trace {
namespace {

// Older ones of the same size are not looked at: keeps long loops over equal sizes linear.
constexpr std::size_t deepest = 64;

// Tensors that one operator makes; of more, the newest.
constexpr std::size_t most_made = 4096;

bool fits(const SeenTensor& tensor, const TensorPool::Query& query) {
  const bool typed = query.shape.type == ElementType::unknown ||
                     tensor.shape.type == ElementType::unknown ||
                     query.shape.type == tensor.shape.type;
  const bool is_own = tensor.track == query.track && tensor.allocated_ns >= query.before_ns;
  return typed && !is_own && tensor.call != query.call && tensor.freed_ns < 0;
}

}  // namespace

TensorPool::Index TensorPool::add(const SeenTensor& tensor) {
  const auto i = static_cast<Index>(tensors_.size());
  tensors_.push_back(tensor);
  by_age_.push_back(i);
  by_elements_[tensor.shape.elements()].push_back(i);
  return i;
}

std::optional<TensorPool::Index> TensorPool::find(const Query& query) const {
  const auto bucket = by_elements_.find(query.shape.elements());
  if (bucket == by_elements_.end()) return std::nullopt;
  const std::vector<Index>& list = bucket->second;
  const std::size_t depth = std::min(list.size(), deepest);
  return find_in(std::span(list).last(depth), query);
}

std::optional<TensorPool::Index> TensorPool::find_in(std::span<const Index> some,
                                                     const Query& query) const {
  const std::int64_t elements = query.shape.elements();
  std::optional<Index> newest;
  for (std::size_t k = some.size(); k > 0; --k) {
    const SeenTensor& tensor = tensors_[some[k - 1]];
    if (!fits(tensor, query) || tensor.shape.elements() != elements) continue;
    if (tensor.is_unread()) return some[k - 1];
    if (!newest) newest = some[k - 1];
  }
  return newest;
}

std::span<const TensorPool::Index> TensorPool::made_since(std::int64_t time_ns) const {
  // Tensors are added when their maker returns, and makers nest: the last ones come in order but
  // for those of other threads.
  std::size_t first = by_age_.size();
  const std::size_t last = by_age_.size() - std::min(by_age_.size(), most_made);
  while (first > last && tensors_[by_age_[first - 1]].allocated_ns >= time_ns) --first;
  return std::span(by_age_).subspan(first);
}

void TensorPool::forget_passing() {
  for (auto bucket = by_elements_.begin(); bucket != by_elements_.end();) {
    std::erase_if(bucket->second, [&](Index i) { return !tensors_[i].stays; });
    bucket = bucket->second.empty() ? by_elements_.erase(bucket) : std::next(bucket);
  }
}

}  // namespace foretrace::trace
