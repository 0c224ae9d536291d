// Edits of tensors: which are on the device and for how long, and the bytes of it for the note.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/edit/editor.h"

namespace foretrace {

class TensorEditor {
 public:
  explicit TensorEditor(Editor& editor) : editor_(editor) {}

  /// The tensors are indices of GraphContext::tensors; those that are gone already stay so.
  void resize(std::size_t tensor, double bytes);
  void drop(std::size_t tensor) { resize(tensor, 0); }
  /// Gone from the host task `freed_in` until `allocated_in`; both may be inserted tasks.
  void leave(std::size_t tensor, TaskId freed_in, TaskId allocated_in);
  /// Freed at an earlier host task than recorded.
  void free_early(std::size_t tensor, TaskId freed_in);
  /// Another tensor that is like this one, but for its size and lifetime.
  void add_like(std::size_t tensor, double bytes, TaskId allocated_in, TaskId freed_in);
  /// One that is like no other: bytes, place, category and lifetime as in `part`.
  void add(Tensor part, double bytes, std::string_view operator_name);

  [[nodiscard]] std::size_t edited() const { return edited_; }
  /// "; 12 recorded tensors 34.0 MiB -> 5.0 MiB, all steps together", or nothing if none is edited.
  [[nodiscard]] std::string note() const;

 private:
  /// True if there is something to edit; then it is edited to nothing or to `bytes`.
  bool edit(std::size_t tensor, std::int64_t bytes);
  [[nodiscard]] const Tensor& recorded(std::size_t tensor) const {
    return editor_.graph().context().tensors[tensor];
  }
  [[nodiscard]] std::string_view operator_of(std::size_t tensor) const {
    return editor_.graph().names()[recorded(tensor).operator_name];
  }

  Editor& editor_;
  std::size_t edited_ = 0;
  double before_ = 0;
  double after_ = 0;
};

}  // namespace foretrace
