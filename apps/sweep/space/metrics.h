// What a sweep computes of every point: a table, so that reader, store and report read the same.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace foretrace::sweeping {

/// What the points of a sweep are.
enum class Subject : std::uint8_t {
  trace,    ///< a recording under what-ifs
  scenario  ///< a training job without a trace
};

enum class MetricUnit : std::uint8_t { time, bytes, flag, factor, share, plain };

struct MetricInfo {
  std::string_view name;
  MetricUnit unit = MetricUnit::plain;
  bool is_usual = false;  ///< computed also where nobody asks for it
  bool is_whole = true;   ///< integers; else doubles
  std::string_view doc;
};

[[nodiscard]] std::span<const MetricInfo> metrics_of(Subject subject);

}  // namespace foretrace::sweeping
