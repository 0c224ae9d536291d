// The columns of records in .ftr files. Numbers are part of the format: none is used again.
#pragma once

#include <array>

#include "trace/collect/record.h"
#include "trace/ftr/rows.h"

namespace foretrace::trace::collector {

using ftr::element;
using ftr::field;

/// The kind and the columns of a record: RecordTraits<ApiRecord>::kind, ::fields.
template <typename Record>
struct RecordTraits;

/// A member that several kinds of device work share, as a column of one of them.
template <typename Record, auto member>
[[nodiscard]] constexpr ftr::Field<Record> shared_field(std::uint16_t id) {
  using Value = typename ftr::cells::MemberOf<decltype(member)>::Value;
  return {
      id, [](const Record& row) { return ftr::cells::to_bits(row.*member); },
      [](Record& row, std::int64_t value) { row.*member = ftr::cells::from_bits<Value>(value); }};
}

/// The columns of DeviceWork and then those of the record itself.
template <typename Record, typename... Own>
[[nodiscard]] constexpr std::array<ftr::Field<Record>, 8 + sizeof...(Own)> work_fields(Own... own) {
  return {shared_field<Record, &DeviceWork::start>(1),
          shared_field<Record, &DeviceWork::end>(2),
          shared_field<Record, &DeviceWork::device>(3),
          shared_field<Record, &DeviceWork::context>(4),
          shared_field<Record, &DeviceWork::stream>(5),
          shared_field<Record, &DeviceWork::correlation>(6),
          shared_field<Record, &DeviceWork::graph>(7),
          shared_field<Record, &DeviceWork::graph_node>(8),
          own...};
}

template <>
struct RecordTraits<ApiRecord> {
  static constexpr RecordKind kind = RecordKind::api;
  static constexpr std::array fields = {
      field<&ApiRecord::start>(1),    field<&ApiRecord::end>(2),
      field<&ApiRecord::name>(3),     field<&ApiRecord::process>(4),
      field<&ApiRecord::thread>(5),   field<&ApiRecord::correlation>(6),
      field<&ApiRecord::call_id>(7),  field<&ApiRecord::result>(8),
      field<&ApiRecord::is_driver>(9)};
};
template <>
struct RecordTraits<KernelRecord> {
  static constexpr RecordKind kind = RecordKind::kernel;
  static constexpr auto fields = work_fields<KernelRecord>(
      field<&KernelRecord::name>(16), element<&KernelRecord::grid, 0>(17),
      element<&KernelRecord::grid, 1>(18), element<&KernelRecord::grid, 2>(19),
      element<&KernelRecord::block, 0>(20), element<&KernelRecord::block, 1>(21),
      element<&KernelRecord::block, 2>(22), element<&KernelRecord::cluster, 0>(23),
      element<&KernelRecord::cluster, 1>(24), element<&KernelRecord::cluster, 2>(25),
      field<&KernelRecord::registers_per_thread>(26), field<&KernelRecord::static_shared_bytes>(27),
      field<&KernelRecord::dynamic_shared_bytes>(28),
      field<&KernelRecord::shared_bytes_executed>(29),
      field<&KernelRecord::local_bytes_per_thread>(30));
};
template <>
struct RecordTraits<CopyRecord> {
  static constexpr RecordKind kind = RecordKind::copy;
  static constexpr auto fields =
      work_fields<CopyRecord>(field<&CopyRecord::bytes>(16), field<&CopyRecord::kind>(17),
                              field<&CopyRecord::from>(18), field<&CopyRecord::to>(19),
                              field<&CopyRecord::to_device>(20), field<&CopyRecord::is_async>(21));
};
template <>
struct RecordTraits<SetRecord> {
  static constexpr RecordKind kind = RecordKind::set;
  static constexpr auto fields =
      work_fields<SetRecord>(field<&SetRecord::bytes>(16), field<&SetRecord::value>(17),
                             field<&SetRecord::place>(18), field<&SetRecord::is_async>(19));
};
template <>
struct RecordTraits<SynchronizationRecord> {
  static constexpr RecordKind kind = RecordKind::synchronization;
  static constexpr std::array fields = {field<&SynchronizationRecord::start>(1),
                                        field<&SynchronizationRecord::end>(2),
                                        field<&SynchronizationRecord::kind>(3),
                                        field<&SynchronizationRecord::context>(4),
                                        field<&SynchronizationRecord::stream>(5),
                                        field<&SynchronizationRecord::event>(6),
                                        field<&SynchronizationRecord::event_record>(7),
                                        field<&SynchronizationRecord::correlation>(8)};
};
template <>
struct RecordTraits<EventRecord> {
  static constexpr RecordKind kind = RecordKind::event;
  static constexpr std::array fields = {
      field<&EventRecord::correlation>(1), field<&EventRecord::context>(2),
      field<&EventRecord::stream>(3), field<&EventRecord::event>(4),
      field<&EventRecord::event_record>(5)};
};
template <>
struct RecordTraits<GraphRecord> {
  static constexpr RecordKind kind = RecordKind::graph;
  static constexpr auto fields = work_fields<GraphRecord>();
};
template <>
struct RecordTraits<StreamRecord> {
  static constexpr RecordKind kind = RecordKind::stream;
  static constexpr std::array fields = {
      field<&StreamRecord::context>(1), field<&StreamRecord::stream>(2),
      field<&StreamRecord::priority>(3), field<&StreamRecord::flag>(4)};
};
template <>
struct RecordTraits<ContextRecord> {
  static constexpr RecordKind kind = RecordKind::context;
  static constexpr std::array fields = {field<&ContextRecord::context>(1),
                                        field<&ContextRecord::device>(2),
                                        field<&ContextRecord::null_stream>(3)};
};
template <>
struct RecordTraits<MemoryRecord> {
  static constexpr RecordKind kind = RecordKind::memory;
  static constexpr std::array fields = {
      field<&MemoryRecord::time>(1),        field<&MemoryRecord::address>(2),
      field<&MemoryRecord::bytes>(3),       field<&MemoryRecord::process>(4),
      field<&MemoryRecord::thread>(5),      field<&MemoryRecord::device>(6),
      field<&MemoryRecord::correlation>(7), field<&MemoryRecord::place>(8),
      field<&MemoryRecord::is_release>(9)};
};
template <>
struct RecordTraits<RangeRecord> {
  static constexpr RecordKind kind = RecordKind::range;
  static constexpr std::array fields = {
      field<&RangeRecord::time>(1),    field<&RangeRecord::id>(2),
      field<&RangeRecord::name>(3),    field<&RangeRecord::domain>(4),
      field<&RangeRecord::process>(5), field<&RangeRecord::thread>(6),
      field<&RangeRecord::phase>(7)};
};
template <>
struct RecordTraits<ExternalRecord> {
  static constexpr RecordKind kind = RecordKind::external;
  static constexpr std::array fields = {field<&ExternalRecord::id>(1),
                                        field<&ExternalRecord::correlation>(2),
                                        field<&ExternalRecord::kind>(3)};
};
template <>
struct RecordTraits<OverheadRecord> {
  static constexpr RecordKind kind = RecordKind::overhead;
  static constexpr std::array fields = {
      field<&OverheadRecord::start>(1), field<&OverheadRecord::end>(2),
      field<&OverheadRecord::name>(3), field<&OverheadRecord::process>(4),
      field<&OverheadRecord::thread>(5)};
};
template <>
struct RecordTraits<DeviceRecord> {
  static constexpr RecordKind kind = RecordKind::device;
  static constexpr std::array fields = {field<&DeviceRecord::id>(1),
                                        field<&DeviceRecord::name>(2),
                                        field<&DeviceRecord::memory_bytes>(3),
                                        field<&DeviceRecord::memory_bandwidth>(4),
                                        field<&DeviceRecord::multiprocessors>(5),
                                        field<&DeviceRecord::compute_major>(6),
                                        field<&DeviceRecord::compute_minor>(7),
                                        field<&DeviceRecord::threads_per_multiprocessor>(8),
                                        field<&DeviceRecord::registers_per_multiprocessor>(9),
                                        field<&DeviceRecord::shared_bytes_per_multiprocessor>(10),
                                        field<&DeviceRecord::warp_size>(11),
                                        field<&DeviceRecord::core_clock_hz>(12),
                                        field<&DeviceRecord::l2_bytes>(13)};
};
template <>
struct RecordTraits<ClockRecord> {
  static constexpr RecordKind kind = RecordKind::clock;
  static constexpr std::array fields = {field<&ClockRecord::record_time>(1),
                                        field<&ClockRecord::real_time>(2),
                                        field<&ClockRecord::monotonic_time>(3)};
};
template <>
struct RecordTraits<ThreadRecord> {
  static constexpr RecordKind kind = RecordKind::thread;
  static constexpr std::array fields = {field<&ThreadRecord::process>(1),
                                        field<&ThreadRecord::thread>(2),
                                        field<&ThreadRecord::name>(3)};
};
template <>
struct RecordTraits<DropRecord> {
  static constexpr RecordKind kind = RecordKind::drop;
  static constexpr std::array fields = {field<&DropRecord::count>(1), field<&DropRecord::kind>(2),
                                        field<&DropRecord::place>(3)};
};

}  // namespace foretrace::trace::collector
