// The page of `simulate` of a training run until its target: foretrace.training_result/1.
#include "apps/report/pages/cluster/training.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<TrainingPart> training_context, training_batches;
}

Page training_page(const TrainingPart& part) {
  using namespace sections;
  constexpr std::array list = {training_context, training_batches};
  return {.schema = "foretrace.training_result/1",
          .document_keys = {"input", "total_ns", "low_ns", "high_ns", "batches"},
          .sections = build<TrainingPart>(list, {}, part),
          .main_table = "batches"};
}

}  // namespace foretrace::report
