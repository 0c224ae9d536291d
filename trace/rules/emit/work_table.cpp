#include "trace/rules/emit/work_table.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "trace/table/linked_operator.h"

namespace foretrace::trace::rules {
namespace {

std::string_view mark_name(CallKind kind) {
  switch (kind) {
    case CallKind::thread_first: return "thread begin";
    case CallKind::thread_last: return "thread end";
    case CallKind::step_begin: return "step begin";
    case CallKind::step_end: return "step end";
    case CallKind::hand_over_from: return "hand over";
    case CallKind::hand_over_to: return "take over";
    default: return "mark";
  }
}

}  // namespace

NameId WorkTable::name(NameId id) {
  NameId& mapped = names_[index(id)];
  if (mapped == none<NameId>) {
    mapped = builder_.add_name(a_.events.names[id]);
  }
  return mapped;
}

WorkId WorkTable::of_call(const HostCall& call, TaskKind kind, TaskPart part) {
  Work work;
  work.kind = kind;
  work.part = part;
  if (call.event != none<EventId>) {
    work.name = call.waits_for == nothing ? name(call.api) : builder_.add_name("poll for a kernel");
    const EventId op = a_.annotation.operator_event[index(call.event)];
    if (op != none<EventId>) {
      work.operator_name = name(a_.events.name[index(op)]);
    }
  } else {
    work.name = builder_.add_name(mark_name(call.kind));
  }
  return builder_.add_work(work);
}

WorkId WorkTable::of_op(const DeviceOp& op, TaskPart part) {
  const std::size_t event = index(op.event);
  const EventId around = a_.annotation.operator_event[event];
  if (op.collective != nothing) {  // few, and their sizes are not the kernel's arguments
    const CollectiveOp& collective = a_.collectives[op.collective];
    Work work = describe(op, around);
    work.part = part;
    work.bytes = collective.bytes;
    work.collective = collective.kind;
    work.communicator = collective.communicator;
    return builder_.add_work(work);
  }
  const std::uint64_t operator_key =
      around == none<EventId>
          ? 0xFFFFFFFFULL
          : (static_cast<std::uint64_t>(index(a_.events.name[index(around)])) << 32U) |
                index(a_.events.descriptor[index(around)]);
  const std::uint64_t own_key = (static_cast<std::uint64_t>(index(a_.events.name[event])) << 32U) |
                                index(a_.events.descriptor[event]);
  const std::uint64_t key = (own_key * 0x9E3779B97F4A7C15ULL) ^ operator_key;
  const auto cached = works_.find(key);
  if (cached != works_.end() && cached->second.own == own_key &&
      cached->second.around == operator_key) {
    return cached->second.work;
  }
  const WorkId id = builder_.add_work(describe(op, around));
  works_[key] = {own_key, operator_key, id};
  return id;
}

/// The kernel, its launch parameters and the operator around its launch.
Work WorkTable::describe(const DeviceOp& op, EventId around) {
  const std::size_t event = index(op.event);
  const Descriptor& own = a_.events.descriptors[index(a_.events.descriptor[event])];
  Work work;
  work.kind = op.kind;
  work.name = name(a_.events.name[event]);
  work.bytes = own.bytes;
  work.grid = own.grid;
  work.block = own.block;
  work.registers_per_thread = own.registers_per_thread;
  work.shared_memory_bytes = own.shared_memory_bytes;
  if (around != none<EventId>) {
    const Descriptor& outer = a_.events.descriptors[index(a_.events.descriptor[index(around)])];
    work.operator_name = name(a_.events.name[index(around)]);
    work.shapes = name(outer.dims);
    work.types = name(outer.types);
    work.flops = outer.flops;
  }
  const std::string captured = captured_operator(a_.events.names[own.text]);
  if (!captured.empty()) {  // of a device graph joined with its capture, or of a compiled program
    work.operator_name = builder_.add_name(captured);
    work.shapes = name(own.dims);
    work.types = name(own.types);
    work.flops = std::max(work.flops, own.flops);
  }
  return work;
}

}  // namespace foretrace::trace::rules
