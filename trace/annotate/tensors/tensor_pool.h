// Tensors that a walk over operators has seen, found again by their sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/annotate/tensors/operator_arguments.h"
#include "trace/table/events.h"

namespace foretrace::trace {

/// A tensor as far as shapes tell.
struct SeenTensor {
  TensorShape shape;
  TrackId track{};
  std::int64_t allocated_ns = 0;
  EventId maker{};
  EventId last_user{};
  std::int32_t device = -1;    ///< -1: no device work touched it so far
  bool stays = false;          ///< nothing in the window frees it
  bool is_scratch = false;     ///< goes with its maker
  std::int64_t freed_ns = -1;  ///< where something else than the last use frees it
  TrackId freed_on{};          ///< then the thread that does
  std::uint32_t call = 0;      ///< the last call that took it as an argument

  /// A result that no operator has read yet.
  [[nodiscard]] bool is_unread() const { return last_user == maker && !is_scratch; }
};

class TensorPool {
 public:
  using Index = std::uint32_t;

  /// What to find: an argument of the call `call` that begins at `before_ns` on `track`.
  struct Query {
    TensorShape shape;
    std::uint32_t call = 0;
    TrackId track{};
    std::int64_t before_ns = 0;
  };

  Index add(const SeenTensor& tensor);
  [[nodiscard]] SeenTensor& operator[](Index i) { return tensors_[i]; }
  [[nodiscard]] std::span<SeenTensor> all() { return tensors_; }

  /// Of the tensors with as many elements of this type (the sizes may be those of a view) the
  /// newest that nobody has read, else the newest. Tensors that the call took already or made
  /// itself are left out.
  [[nodiscard]] std::optional<Index> find(const Query& query) const;
  /// The same among a few.
  [[nodiscard]] std::optional<Index> find_in(std::span<const Index> some, const Query& query) const;

  /// Tensors made from then on, newest last.
  [[nodiscard]] std::span<const Index> made_since(std::int64_t time_ns) const;
  /// Forgets all that do not stay: no later argument is one of them.
  void forget_passing();

 private:
  std::vector<SeenTensor> tensors_;
  std::vector<Index> by_age_;
  std::unordered_map<std::int64_t, std::vector<Index>> by_elements_;
};

}  // namespace foretrace::trace
