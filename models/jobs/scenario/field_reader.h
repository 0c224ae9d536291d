// Reads the fields of a job (job_fields.h) from an object of a scenario file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/hardware/catalogue/read_figures.h"
#include "models/jobs/program/job.h"
#include "sim/core/config.h"

namespace foretrace {

/// Without a key a field gets its usual value; what has none is required.
class FieldReader {
 public:
  explicit FieldReader(ConfigFields& fields) : fields_(fields) {}

  template <typename Number>
  void count(std::string_view key, Number& value, double most) {
    value = read_count(fields_, key, most);
  }
  template <typename Number>
  void count(std::string_view key, Number& value, double most, Number usual) {
    value = optional_count(fields_, key, most, static_cast<std::uint32_t>(usual));
  }
  void whole(std::string_view key, double& value, double most, double usual) {
    value = optional_within(fields_, key, ParamType::integer, most, usual);
  }
  void bytes(std::string_view key, double& value, double most, double usual) {
    value = optional_within(fields_, key, ParamType::bytes, most, usual);
  }
  void flag(std::string_view key, bool& value, bool usual) {
    value = usual;
    fields_.optional_boolean(key, value);
  }
  template <typename Enum, std::size_t Count>
  void word(std::string_view key, Enum& value, const std::array<std::string_view, Count>& words,
            Enum usual) {
    value = static_cast<Enum>(optional_word(fields_, key, words, static_cast<std::size_t>(usual)));
  }
  void share(std::string_view key, double& value);
  void share(std::string_view key, double& value, double usual);
  void schedule(std::string_view key, const ScheduleInfo*& value);
  void precisions(std::string_view key, Precisions& value);

 private:
  ConfigFields& fields_;
};

}  // namespace foretrace
