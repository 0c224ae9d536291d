// What is computed of single points: the same numbers whoever asks, and in whichever order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/sweep/space/sweep.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

/// A point and what came of it. A metric that is not known is not a number.
struct PointResult {
  std::uint64_t point = 0;
  std::vector<double> where{};    ///< per axis
  std::vector<double> metrics{};  ///< in the order of the sweep; empty: it failed
  std::string reason{};           ///< why it failed
};

/// Evaluates points one after another: one per thread. Keeps what the next points may share.
class PointEvaluator {
 public:
  PointEvaluator() = default;
  PointEvaluator(const PointEvaluator&) = delete;
  PointEvaluator& operator=(const PointEvaluator&) = delete;
  virtual ~PointEvaluator() = default;
  /// Fills `metrics` or `reason` of points whose number and place are set.
  virtual void evaluate(std::span<PointResult> points) = 0;
};

/// What all threads share: recordings and scenarios that are read already.
class Evaluation {
 public:
  Evaluation() = default;
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  virtual ~Evaluation() = default;
  [[nodiscard]] virtual std::unique_ptr<PointEvaluator> evaluator() const = 0;
  /// "FILE: why", for recordings on which no answer can be relied.
  [[nodiscard]] virtual std::vector<std::string> doubts() const { return {}; }
  /// Changes when files that points are computed from do: those that the points name, and every
  /// config that one of them may use.
  [[nodiscard]] const std::string& inputs() const { return inputs_; }

 protected:
  /// Sets inputs() from these files and the configs of the catalogue.
  [[nodiscard]] Status note_inputs(std::vector<std::string> files, const Catalogue& catalogue);

 private:
  std::string inputs_;
};

/// Reads what the points need, and tries every value of every axis: what can only be a mistake in
/// the file is an error here and not a reason of points. The sweep must outlive the result.
[[nodiscard]] Result<std::unique_ptr<const Evaluation>> prepare(const Sweep& sweep,
                                                                CataloguePtr catalogue);
[[nodiscard]] Result<std::unique_ptr<const Evaluation>> prepare_traces(const Sweep& sweep,
                                                                       CataloguePtr catalogue);
[[nodiscard]] Result<std::unique_ptr<const Evaluation>> prepare_scenarios(const Sweep& sweep,
                                                                          CataloguePtr catalogue);

/// The documents with one axis at one of its values and all others at their first, axes that move
/// together counting as one; calls
/// `check(document)` and puts file and pointer before its error.
[[nodiscard]] Status try_values(const Sweep& sweep,
                                const std::function<Status(const ConfigValue&)>& check);

/// A digest of bytes, to tell contents apart; of a file: what it holds.
class Digest {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] Status add_file(const std::string& path);
  [[nodiscard]] std::string text() const;

 private:
  std::uint64_t low_ = 0xcbf29ce484222325U;
  std::uint64_t high_ = 0x9e3779b97f4a7c15U;
};

}  // namespace foretrace::sweeping
