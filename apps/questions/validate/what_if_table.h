// Every what-if with its example settings on every recording of a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "models/whatifs/what_if.h"
#include "sim/core/result.h"

namespace foretrace {

/// One what-if on one recording.
struct ExampleOutcome {
  std::string trace;      ///< relative to the folder, or the id of a job
  std::string refusal;    ///< why nothing is predicted; then no figure below is known
  bool is_error = false;  ///< refused for another reason than that there is nothing to change
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  double samples = 1;  ///< of a step / of a recorded one

  /// Change of the time per sample; -0.5: half of it.
  [[nodiscard]] double change() const;
};

/// One what-if on all recordings.
struct ExampleRow {
  const WhatIfInfo* info = nullptr;
  std::string settings;  ///< "key=value,..."
  std::vector<ExampleOutcome> outcomes;

  [[nodiscard]] std::size_t applied() const;
  /// Of those that it applies to: the outcomes, from the largest gain to the largest loss.
  [[nodiscard]] std::vector<const ExampleOutcome*> by_change() const;
  /// The reason for most refusals, without what differs between traces; and how many have it.
  [[nodiscard]] std::string usual_refusal() const;
};

struct ExampleTable {
  std::size_t recordings = 0;
  std::vector<ExampleRow> rows;  ///< by name of the what-if
};

/// Applies every what-if, with the settings of its file in configs/optimizations or its defaults,
/// to every recording below a folder with device work and host calls, and to every known job.
[[nodiscard]] Result<ExampleTable> example_table(const CataloguePtr& catalogue,
                                                 const std::string& folder);

}  // namespace foretrace
