// What the instructions of a compiled module do: shapes of what they read and write, arithmetic,
// and the phase of training that the program's scopes tell; in the order in which they run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/formats/xla/hlo_module.h"

namespace foretrace::trace::formats {

/// The kernel of an instruction in the words that traces of PyTorch have for operators.
struct HloWork {
  std::string operator_name;  ///< "dot_general", "fusion:reduce_sum", "copy"
  /// As "Input Dims": of a fusion its operands, then its results. Empty: not known, or too many.
  std::string dims;
  std::string types;  ///< as "Input type"
  double flops = -1;
};

enum class HloPhase : std::uint8_t { unknown, forward, backward, update };
[[nodiscard]] std::string_view to_string(HloPhase phase);

/// By JAX's scopes: "transpose(" is the backward pass, "jvp(" alone the forward pass of one.
[[nodiscard]] HloPhase phase_of_scope(std::string_view op_name);

/// Name of the kernel that XLA generates for an instruction: "fusion.1" -> "fusion_1".
[[nodiscard]] std::string kernel_name_of(std::string_view instruction);
/// Without numbers behind: XLA generates one kernel for instructions that are alike.
[[nodiscard]] std::string_view without_number(std::string_view kernel_name);

class HloProducts;
struct HloPlace;

class HloProgram {
 public:
  explicit HloProgram(HloModule module);
  HloProgram(HloProgram&&) = default;  // steps point into the module, whose parts stay in place
  HloProgram(const HloProgram&) = delete;
  HloProgram& operator=(HloProgram&&) = delete;
  HloProgram& operator=(const HloProgram&) = delete;
  ~HloProgram() = default;

  /// An instruction that is work, however often it runs. Equal texts of a program lie in one place.
  struct Known {
    std::string_view kind;           ///< name of its kernel, without the number behind
    std::string_view operator_name;  ///< this and what follows: see HloWork
    std::string_view dims;
    std::string_view types;
    double flops = -1;
    HloPhase phase = HloPhase::unknown;  ///< by its scopes alone
    bool has_scope = false;
    bool is_product = false;  ///< it is, or contains, a matrix product or a convolution
    bool is_call = false;     ///< of a library: its kernels have the library's names
    bool is_copy = false;     ///< a fusion that only copies: it may run as a copy of memory
    /// The kernels that XLA generates for both are one.
    [[nodiscard]] bool is_alike(const Known& other) const {
      return kind.data() == other.kind.data() && dims.data() == other.dims.data() &&
             types.data() == other.types.data();
    }
  };
  /// A run of one.
  struct Step {
    const Known* known = nullptr;
    HloPhase phase = HloPhase::unknown;
  };
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  /// Calls of calls make far more of the module than it has: the rest is left out.
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  /// The first step of an instruction, or of a generated kernel; npos if there is none.
  [[nodiscard]] std::size_t find(std::string_view name) const;
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

 private:
  void schedule(const HloComputation& computation, HloProducts& products, int depth);
  const Known& known(HloPlace place, HloProducts& products);
  std::string_view text(std::string_view text) { return *texts_.emplace(text).first; }
  void settle_passes();
  [[nodiscard]] std::string_view scope_of(const HloInstruction& instruction) const;

  HloModule module_;
  std::vector<Step> steps_;
  std::unordered_map<const HloInstruction*, Known> known_;
  std::unordered_set<std::string> texts_;
  std::size_t left_ = 0;  // to be looked at: instructions, and what each refers to
  bool is_cut_ = false;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace foretrace::trace::formats
