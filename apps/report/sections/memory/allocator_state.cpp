// What a snapshot of an allocator says beside its history: who holds memory, what is free inside
// its segments, and which requests failed.
#include <fmt/format.h>

#include "apps/report/pages/inspect.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

using trace::AllocatorState;
using trace::FailedRequest;

std::string line_text(const std::string& line) {
  return line.empty() ? std::string("code that is not recorded") : shorten(line, 80);
}

std::string state_text(const AllocatorState& state) {
  std::string text =
      fmt::format("{} allocated, {} reserved in {}", bytes_text(state.allocated_bytes),
                  bytes_text(state.reserved_bytes), plural(state.segments, "segment"));
  if (state.pending_bytes > 0) {
    text += fmt::format(", {} freed and still in use by a stream", bytes_text(state.pending_bytes));
  }
  return text +
         fmt::format("; {} free in them{}", bytes_text(state.free_bytes),
                     state.free_pieces == 0
                         ? std::string()
                         : fmt::format(", in {} of at most {}", plural(state.free_pieces, "piece"),
                                       bytes_text(state.largest_free_bytes)));
}

/// Whether what was free would have been enough if it had been in one piece. The pieces are those
/// at the end: they say so only if nothing came after the failure.
bool is_fragmented(const FailedRequest& failed, const MemoryFacts& facts) {
  return facts.at_end && failed.allocated_bytes == facts.at_end->allocated_bytes &&
         failed.reserved_bytes == facts.at_end->reserved_bytes &&
         failed.bytes > facts.at_end->largest_free_bytes &&
         failed.bytes <= facts.at_end->free_bytes;
}

std::string failure_text(const FailedRequest& failed, const MemoryFacts& facts) {
  std::string text =
      fmt::format("a request of {} by {} failed", bytes_text(failed.bytes), line_text(failed.line));
  if (failed.device_free_bytes >= 0) {
    text += fmt::format(" with {} left on the device", bytes_text(failed.device_free_bytes));
  }
  text += fmt::format(", {} of {} reserved were allocated", bytes_text(failed.allocated_bytes),
                      bytes_text(failed.reserved_bytes));
  if (is_fragmented(failed, facts)) {
    text += fmt::format(": {} were free, but in pieces of at most {} (fragmentation)",
                        bytes_text(facts.at_end->free_bytes),
                        bytes_text(facts.at_end->largest_free_bytes));
  }
  return text;
}

Table holders_table(const AllocatorState& state) {
  Table table{.name = "holders",
              .title = "allocated by",
              .columns = {{"line"},
                          {"bytes", "bytes", Show::always, true},
                          {"share", "share", Show::always, true},
                          {"blocks", "blocks", Show::always, true}},
              .longest = 8};
  for (const trace::HeldMemory& held : state.holders) {
    table.add({Value::words(held.line).as(line_text(held.line)), Value::bytes(held.bytes),
               Value::share(share_of(held.bytes, state.allocated_bytes)),
               Value::count(held.blocks)});
  }
  return table;
}

Value state_value(const AllocatorState& state) {
  Value::List holders;
  for (const trace::HeldMemory& held : state.holders) {
    holders.push_back(Value::object({{"line", Value::known_words(held.line)},
                                     {"bytes", Value::bytes(held.bytes)},
                                     {"blocks", Value::count(held.blocks)}}));
  }
  return Value::object({{"allocated_bytes", Value::bytes(state.allocated_bytes)},
                        {"pending_bytes", Value::bytes(state.pending_bytes)},
                        {"reserved_bytes", Value::bytes(state.reserved_bytes)},
                        {"free_bytes", Value::bytes(state.free_bytes)},
                        {"largest_free_bytes", Value::bytes(state.largest_free_bytes)},
                        {"free_pieces", Value::count(state.free_pieces)},
                        {"segments", Value::count(state.segments)},
                        {"holders", Value::list(std::move(holders))}});
}

Value failed_value(const MemoryFacts& facts) {
  Value::List list;
  for (const FailedRequest& failed : facts.failed) {
    list.push_back(
        Value::object({{"bytes", Value::bytes(failed.bytes)},
                       {"line", Value::known_words(failed.line)},
                       {"device_free_bytes", Value::known_bytes(failed.device_free_bytes)},
                       {"allocated_bytes", Value::bytes(failed.allocated_bytes)},
                       {"reserved_bytes", Value::bytes(failed.reserved_bytes)},
                       {"is_fragmented", Value::flag(is_fragmented(failed, facts))}}));
  }
  return Value::list(std::move(list));
}

}  // namespace

Sections allocator_state(const InspectAnswer& answer) {
  if (!answer.found.memory) return {};
  const MemoryFacts& facts = *answer.found.memory;
  if (!facts.at_end && facts.failed.empty()) return {};
  Section section{.key = "allocator", .path = "memory"};
  constexpr std::size_t most_failures = 3;
  for (std::size_t i = 0; i < std::min(facts.failed.size(), most_failures); ++i) {
    section.line("out of memory", failure_text(facts.failed[i], facts));
  }
  if (facts.failed.size() > most_failures) {
    section.line("", fmt::format("and {} more", facts.failed.size() - most_failures));
  }
  if (!facts.failed.empty()) section.datum("failed", failed_value(facts));
  if (facts.at_end) {
    section.line("at the end", state_text(*facts.at_end));
    section.datum("at_end", state_value(*facts.at_end));
    section.tables.push_back(holders_table(*facts.at_end));
  }
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
