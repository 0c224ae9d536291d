// Device memory of a run: the peak of what is allocated, and what the allocator reserves.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "apps/session/memory/memory_report.h"

namespace foretrace::report::sections {
namespace {

/// What documents say of one run, by "rank/device".
Section memory_section(const std::string& run, const HeldMemory& held) {
  Section section{.key = run + "_memory", .path = run, .show = Show::never};
  Value::Object devices;
  for (std::size_t i = 0; i < held.curves.size(); ++i) {
    const MemoryCurve& curve = held.curves[i];
    const bool known = i < held.reserved.size();
    const ReservedRange range = known ? held.reserved[i] : ReservedRange{};
    const auto reserved = [known](std::int64_t bytes) {
      return Value::known_bytes(known ? bytes : -1);
    };
    devices.push_back({std::to_string(curve.rank) + "/" + std::to_string(curve.device),
                       Value::object({{"allocated_peak_bytes", Value::bytes(curve.peak_bytes)},
                                      {"allocated_before_bytes", Value::bytes(curve.base_bytes)},
                                      {"reserved_expected_bytes", reserved(range.expected_bytes)},
                                      {"reserved_low_bytes", reserved(range.low_bytes)},
                                      {"reserved_high_bytes", reserved(range.high_bytes)},
                                      {"reserved_recorded_bytes", reserved(range.recorded_bytes)},
                                      {"peak_at_ns", Value::time(curve.peak_at_ns)},
                                      {"at_peak_bytes", by_name<TensorCategory>(
                                                            curve.at_peak, [](std::int64_t bytes) {
                                                              return Value::bytes(bytes);
                                                            })}})});
  }
  section.datum("memory", Value::object(std::move(devices)));
  return section;
}

std::string device_name(const HeldMemory& held, std::size_t i) {
  const bool one_rank =
      std::all_of(held.curves.begin(), held.curves.end(),
                  [&](const MemoryCurve& curve) { return curve.rank == held.curves[0].rank; });
  const MemoryCurve& curve = held.curves[i];
  return one_rank ? fmt::format("device {}", curve.device)
                  : fmt::format("rank {}, device {}", curve.rank, curve.device);
}

/// "672.6 MiB allocated at the peak, 800.0 MiB reserved (672.6 to 800.0 MiB)".
std::string memory_device_text(const HeldMemory& held, std::size_t i) {
  std::string text = held.curves.size() == 1 ? "" : device_name(held, i) + ": ";
  text += fmt::format("{} allocated at the peak", bytes_text(held.curves[i].peak_bytes));
  if (i < held.reserved.size()) {
    const ReservedRange& range = held.reserved[i];
    text += fmt::format(", {} reserved (between {} and {})", bytes_text(range.expected_bytes),
                        bytes_text(range.low_bytes), bytes_text(range.high_bytes));
  }
  return text;
}

// The short page shows so many rows of a job's devices.
constexpr std::size_t most_memory_rows = 4;

struct Bytes {
  std::int64_t then = 0;
  std::int64_t now = 0;
};

/// The device with the highest peak in brief, every device in the details.
Section memory_of_one(const ResultAnswer& answer) {
  const HeldMemory& held = answer.session.memory();
  Section section{.key = "memory"};
  if (held.curves.empty()) return section;
  const auto fullest = std::max_element(
      held.curves.begin(), held.curves.end(),
      [](const MemoryCurve& a, const MemoryCurve& b) { return a.peak_bytes < b.peak_bytes; });
  section.line("memory",
               memory_device_text(held, static_cast<std::size_t>(fullest - held.curves.begin())),
               Show::brief);
  for (std::size_t i = 0; i < held.curves.size(); ++i) {
    const MemoryCurve& curve = held.curves[i];
    std::string text =
        memory_device_text(held, i) +
        fmt::format("; {} allocated before the trace began", bytes_text(curve.base_bytes));
    if (i < held.reserved.size() && held.reserved[i].recorded_bytes >= 0) {
      text += fmt::format(", {} reserved in the recording",
                          bytes_text(held.reserved[i].recorded_bytes));
    }
    section.line("memory", text, Show::details);
  }
  return section;
}

/// `key`: below the memory of either run.
Row bytes_row(const std::string& title, const std::string& key, const Bytes& bytes, Show show) {
  const auto [then, now] = bytes;
  const std::string was = "/baseline/memory/" + key;
  const std::string is = "/predicted/memory/" + key;
  return {.cells = {Value::words(title), Value::bytes(then).from(was), Value::bytes(now).from(is),
                    Value::bytes_change(now - then).from(is + " less " + was)},
          .show = then == 0 && now == 0 ? Show::never : show};
}

/// Before and after a change: the peak in one line, its categories in the details.
Section memory_of_both(const ResultAnswer& answer) {
  const HeldMemory& before = answer.session.memory();
  const HeldMemory& after = answer.predicted->memory();
  Section section{.key = "memory", .title = "device memory"};
  if (before.curves.size() != after.curves.size()) {
    return section;
  }
  Table table{.columns = {{"part"},
                          {"now_bytes", "now"},
                          {"predicted_bytes", "predicted"},
                          {"change_bytes", "change"}},
              .brief = most_memory_rows};
  for (std::size_t i = 0; i < before.curves.size(); ++i) {
    const std::string name =
        before.curves.size() == 1 ? std::string() : device_name(before, i) + ": ";
    const std::string at = fmt::format("{}~1{}/", before.curves[i].rank, before.curves[i].device);
    Row row = bytes_row(name + "allocated at the peak", at + "allocated_peak_bytes",
                        {before.curves[i].peak_bytes, after.curves[i].peak_bytes}, Show::always);
    for (std::size_t c = 0; c < tensor_category_count; ++c) {
      const std::string_view category = to_string(static_cast<TensorCategory>(c));
      row.below.push_back(bytes_row(
          fmt::format("of it {}", category), fmt::format("{}at_peak_bytes/{}", at, category),
          {before.curves[i].at_peak[c], after.curves[i].at_peak[c]}, Show::details));
    }
    table.rows.push_back(std::move(row));
    if (i < before.reserved.size() && i < after.reserved.size()) {
      table.rows.push_back(bytes_row(
          name + "reserved", at + "reserved_expected_bytes",
          {before.reserved[i].expected_bytes, after.reserved[i].expected_bytes}, Show::always));
    }
  }
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace

Sections memory(const ResultAnswer& answer) {
  Sections sections = {memory_section("baseline", answer.session.memory())};
  if (answer.predicted == nullptr) {
    sections.push_back(memory_of_one(answer));
    return sections;
  }
  sections.push_back(memory_section("predicted", answer.predicted->memory()));
  sections.push_back(memory_of_both(answer));
  return sections;
}

}  // namespace foretrace::report::sections
