// The pages of `validate`: foretrace.validation/1 and foretrace.formats/1.
#include "apps/report/pages/validation.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<ValidationAnswer> validated_replays, validated_pairs;
Builder<std::vector<JobRow>> replayed_jobs;
Builder<std::vector<AblatedRule>> ablated_rules;
Builder<ExampleTable> what_if_examples;
Builder<std::vector<FormatRow>> read_files;
}  // namespace sections

Page validation_page(const ValidationAnswer& answer) {
  constexpr std::array list = {sections::validated_replays, sections::validated_pairs};
  return {.schema = "foretrace.validation/1",
          .document_keys = {"replays", "left_out", "pairs", "coverage", "range_constants"},
          .sections = build<ValidationAnswer>(list, {}, answer),
          .main_table = "replays"};
}

Page jobs_page(const std::vector<JobRow>& jobs) {
  return {.schema = "foretrace.validation/1",
          .sections = sections::replayed_jobs(jobs),
          .main_table = "jobs"};
}

Page ablation_page(const std::vector<AblatedRule>& rules) {
  return {.schema = "foretrace.validation/1",
          .sections = sections::ablated_rules(rules),
          .main_table = "rules"};
}

Page examples_page(const ExampleTable& examples) {
  return {.schema = "foretrace.validation/1",
          .sections = sections::what_if_examples(examples),
          .main_table = "what_ifs"};
}

Page formats_page(const std::vector<FormatRow>& rows) {
  return {.schema = "foretrace.formats/1",
          .sections = sections::read_files(rows),
          .main_table = "files"};
}

}  // namespace foretrace::report
