// The columns of an EventTable in .ftr files. Numbers are part of the format: none is used again.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trace/ftr/rows.h"
#include "trace/table/events.h"

namespace foretrace::trace::ftr {

/// Columns of the events themselves.
enum class EventColumn : std::uint8_t {
  kind = 1,
  name = 2,
  track = 3,
  start = 4,
  duration = 5,
  correlation = 6,
  external_id = 7,
  descriptor = 8
};
inline constexpr std::size_t event_columns = 8;
/// In front of the keys of TraceInfo::environment among the facts of a file.
inline constexpr std::string_view environment_prefix = "environment.";
inline constexpr std::size_t rows_per_chunk = std::size_t{1} << 16U;

inline constexpr std::array track_fields = {
    field<&Track::kind>(1),        field<&Track::rank>(2),   field<&Track::device>(3),
    field<&Track::process>(4),     field<&Track::number>(5), field<&Track::process_text>(6),
    field<&Track::number_text>(7), field<&Track::name>(8)};

inline constexpr std::array descriptor_fields = {field<&Descriptor::dims>(1),
                                                 field<&Descriptor::types>(2),
                                                 field<&Descriptor::concrete>(3),
                                                 field<&Descriptor::bytes>(4),
                                                 element<&Descriptor::grid, 0>(5),
                                                 element<&Descriptor::grid, 1>(6),
                                                 element<&Descriptor::grid, 2>(7),
                                                 element<&Descriptor::block, 0>(8),
                                                 element<&Descriptor::block, 1>(9),
                                                 element<&Descriptor::block, 2>(10),
                                                 field<&Descriptor::registers_per_thread>(11),
                                                 field<&Descriptor::shared_memory_bytes>(12),
                                                 field<&Descriptor::flops>(13),
                                                 field<&Descriptor::text>(14)};

inline constexpr std::array sync_fields = {field<&SyncRecord::kind>(1),
                                           field<&SyncRecord::device>(2),
                                           field<&SyncRecord::stream>(3),
                                           field<&SyncRecord::wait_on_stream>(4),
                                           field<&SyncRecord::record_correlation>(5),
                                           field<&SyncRecord::correlation>(6),
                                           field<&SyncRecord::start_ns>(7),
                                           field<&SyncRecord::duration_ns>(8)};

inline constexpr std::array flow_fields = {field<&Flow::id>(1), field<&Flow::time_ns>(2),
                                           field<&Flow::track>(3), field<&Flow::is_start>(4)};

inline constexpr std::array sequence_fields = {field<&SequenceNumber::event>(1),
                                               field<&SequenceNumber::number>(2),
                                               field<&SequenceNumber::forward_thread>(3)};

inline constexpr std::array call_fields = {field<&RecordFunction::event>(1),
                                           field<&RecordFunction::number>(2)};

inline constexpr std::array memory_fields = {
    field<&MemoryEvent::time_ns>(1),         field<&MemoryEvent::track>(2),
    field<&MemoryEvent::device_type>(3),     field<&MemoryEvent::device>(4),
    field<&MemoryEvent::bytes>(5),           field<&MemoryEvent::address>(6),
    field<&MemoryEvent::total_allocated>(7), field<&MemoryEvent::total_reserved>(8)};

/// DeviceProperties with its name among the names.
struct DeviceRow {
  std::int64_t name = 0;
  std::int32_t rank = 0;
  std::int32_t id = 0;
  std::int64_t total_memory_bytes = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
  std::int32_t max_threads_per_multiprocessor = 0;
  std::int32_t registers_per_multiprocessor = 0;
  std::int64_t shared_memory_per_multiprocessor = 0;
  std::int32_t warp_size = 0;
};
inline constexpr std::array device_fields = {
    field<&DeviceRow::name>(1),
    field<&DeviceRow::rank>(2),
    field<&DeviceRow::id>(3),
    field<&DeviceRow::total_memory_bytes>(4),
    field<&DeviceRow::multiprocessors>(5),
    field<&DeviceRow::compute_major>(6),
    field<&DeviceRow::compute_minor>(7),
    field<&DeviceRow::max_threads_per_multiprocessor>(8),
    field<&DeviceRow::registers_per_multiprocessor>(9),
    field<&DeviceRow::shared_memory_per_multiprocessor>(10),
    field<&DeviceRow::warp_size>(11)};

}  // namespace foretrace::trace::ftr
