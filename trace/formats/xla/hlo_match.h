// Which instruction of which compiled module a recorded kernel is.
//
// A profile names the instruction of a kernel (hlo_op), unless a graph launched it: then it names
// the graph. Generated kernels bear the name of an instruction, of the first of those that are
// alike; kernels of libraries and copies follow from their place between them in the order of
// execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/formats/xla/hlo_program.h"

namespace foretrace::trace::formats {

/// The modules of a profile by number, or by name where that is the only one and the kernel or the
/// module has no number.
class HloPrograms {
 public:
  /// `name` as the profile has it: "jit_step(15917)". `number` below 0: known by its name only.
  void add(std::string_view name, std::int64_t number, HloProgram program);
  /// `number` below 0: not recorded. Null: not known.
  [[nodiscard]] const HloProgram* find(std::int64_t number, std::string_view name) const;
  [[nodiscard]] bool empty() const { return by_number_.empty(); }

 private:
  struct Named {
    const HloProgram* program = nullptr;  // null: several
    bool has_number = false;
  };
  std::map<std::int64_t, HloProgram> by_number_;  // below 0: without one
  std::map<std::string, Named, std::less<>> by_name_;
};

/// A kernel of a stream, in the order of its start.
struct HloKernel {
  std::int64_t program = -1;
  std::string_view module;
  std::string_view operation;  ///< hlo_op
  std::string_view name;
  std::int64_t launch = 0;  ///< correlation
  bool is_set = false;
};

/// The step of each kernel; null where none fits.
[[nodiscard]] std::vector<const HloProgram::Step*> match_kernels(
    const HloPrograms& programs, const std::vector<HloKernel>& kernels);

}  // namespace foretrace::trace::formats
