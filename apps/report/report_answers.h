// Pages of what people ask `whatif` for: what goes together, what fits, how large a batch.
#pragma once

#include <span>
#include <string>

#include "apps/driver/answers/fit.h"
#include "apps/driver/answers/max_batch.h"
#include "apps/driver/answers/ranking.h"
#include "apps/driver/load.h"
#include "apps/driver/predict.h"

namespace foretrace::app {

[[nodiscard]] std::string pairs_headline(const driver::Replay& replay,
                                         const driver::Ranking& ranking,
                                         const driver::PairRanking& pairs);
[[nodiscard]] std::string pairs_page(const driver::Recording& recording,
                                     const driver::Replay& replay, const driver::Ranking& ranking,
                                     const driver::PairRanking& pairs);

[[nodiscard]] std::string fit_headline(const driver::FitAnswer& answer);
/// `stack` is what --apply says.
[[nodiscard]] std::string fit_page(const driver::Recording& recording, const driver::Replay& replay,
                                   const driver::FitAnswer& answer,
                                   std::span<const std::string> stack);

[[nodiscard]] std::string batch_headline(const driver::BatchAnswer& answer);
[[nodiscard]] std::string batch_page(const driver::Recording& recording,
                                     const driver::Replay& replay,
                                     const driver::BatchAnswer& answer);

/// "24.0 GiB" or "24.0 GiB of rtx_4090".
[[nodiscard]] std::string target_text(const driver::MemoryTarget& target);
/// What is compared with the size, and the range beside it.
[[nodiscard]] std::string comparison_text(const driver::MemoryTarget& target);
/// "21.5 GiB .. 24.9 GiB".
[[nodiscard]] std::string need_range_text(const driver::MemoryTarget& target,
                                          const driver::MemoryNeed& need);

}  // namespace foretrace::app
