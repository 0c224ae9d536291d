#include "models/jobs/scenario/field_reader.h"

#include <string>

#include <fmt/format.h>

#include "models/jobs/scenario/job_fields.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace {

void FieldReader::share(std::string_view key, double& value) {
  value = 0;
  fields_.quantity(key, ParamType::number, value);
  if (value >= 0 && value <= 1) return;
  fields_.mistake(key, fmt::format("got {}, expected a share from 0 to 1", value));
  value = 0;
}

void FieldReader::share(std::string_view key, double& value, double usual) {
  if (fields_.has(key)) return share(key, value);
  value = usual;
  double unused = 0;
  fields_.optional_quantity(key, ParamType::number, unused);
}

void FieldReader::schedule(std::string_view key, const ScheduleInfo*& value) {
  std::string name;
  fields_.text(key, name);
  if (name.empty()) return;
  const auto found = find_schedule(name);
  if (found.ok()) {
    value = *found;
    return;
  }
  std::string_view message = found.error().message;
  constexpr std::string_view prefix = "schedule: ";
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  fields_.mistake(key, message);
}

void FieldReader::precisions(std::string_view key, Precisions& value) {
  std::size_t place = 0;
  while (precision_words[place] != job_fields::usual_precision) ++place;
  value = *precisions_of(precision_words[optional_word(fields_, key, precision_words, place)]);
}

}  // namespace foretrace
