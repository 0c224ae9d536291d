// One record of rocprofv3, and what its JSON is made of.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/formats/json/scan.h"

namespace foretrace::trace::formats {

/// What any kind of record may say; -1: it does not.
struct RocprofRecord {
  std::int64_t kind = -1;
  std::int64_t operation = -1;
  std::int64_t start_ns = -1;
  std::int64_t end_ns = -1;
  std::int64_t thread = 0;
  std::int64_t correlation = 0;
  std::int64_t stream = -1;
  std::int64_t queue = -1;
  std::int64_t agent = -1;
  std::int64_t source_agent = -1;
  std::int64_t kernel = -1;
  std::int64_t bytes = -1;
  std::int64_t address = 0;
  std::int64_t shared_memory = 0;
  std::array<std::int64_t, 3> workgroup{};
  std::array<std::int64_t, 3> grid{};
  bool has_times = false;
};

/// Of the text of an object, with scan_padding readable bytes behind it, as all texts here.
[[nodiscard]] RocprofRecord rocprof_record(std::string_view object);

[[nodiscard]] std::int64_t integer_or(std::string_view token, std::int64_t fallback);
/// Without quotes and escapes.
[[nodiscard]] std::string text_of(std::string_view token);
/// The value of a key of an object; empty if there is none.
[[nodiscard]] std::string_view member_of(std::string_view object, std::string_view key);
/// {"handle": 5} or 5; -1 if it is neither.
[[nodiscard]] std::int64_t handle_of(std::string_view value);

/// Goes over the elements of a list that is whole.
class ListElements {
 public:
  explicit ListElements(std::string_view list);
  bool next();
  [[nodiscard]] std::string_view value() const { return value_; }

 private:
  Scanner scanner_;
  const char* at_;
  std::string_view value_;
};

}  // namespace foretrace::trace::formats
