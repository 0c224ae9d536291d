// What papers report for their what-ifs, beside what is predicted on the nearest recording.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// What a gain compares, before / after.
enum class GainOf : std::uint8_t {
  step,     ///< step time, or span where there are no steps
  kernels,  ///< time of the kernels that a selection means
  peak,     ///< most bytes of tensors live at once, of the device where that is most
};
[[nodiscard]] std::string_view to_string(GainOf of);

/// Before / after: 2 is half of the time or bytes.
struct Gain {
  double low = 1;
  double high = 1;
};

enum class Verdict : std::uint8_t {
  not_compared,  ///< no number was published, or no prediction could be made
  inside,        ///< the predicted range and the published one meet
  below,         ///< predicted to gain less than published
  above,
  opposite,        ///< one says gain, the other loss
  not_comparable,  ///< the recording lacks what the paper acts on, or the recipe is used otherwise
};
[[nodiscard]] std::string_view to_string(Verdict verdict);
/// Both ranges with low <= high. Losses within 1 % count as no gain, which opposes nothing.
[[nodiscard]] Verdict compare_gains(const Gain& published, const Gain& predicted);

/// One row of claims.json.
struct ClaimRow {
  std::string name;
  std::string source;
  std::string published;                 ///< in words, with the workload of the paper
  std::optional<Gain> published_gain{};  ///< "up to X" is 1 to X
  GainOf of = GainOf::step;
  std::string applied;   ///< what-ifs, joined by " + "
  std::string workload;  ///< the nearest recording
  double predicted_gain = 1;
  Gain predicted{};              ///< at both ends of the range
  std::string why;               ///< why the two may differ
  std::string not_comparable{};  ///< not empty: why they are beside each other, but not compared
  std::string failure;           ///< not empty: why nothing is predicted
  std::optional<ErrorCode> failed_with{};  ///< of what was applied to the recording

  [[nodiscard]] Verdict verdict() const;
};

/// Predicts every claim whose recording is below the folder.
/// Errors: claims.json is missing or not such a list.
[[nodiscard]] Result<std::vector<ClaimRow>> claim_table(const CataloguePtr& catalogue,
                                                        const std::string& folder);

}  // namespace foretrace
