#include "trace/formats/rocprof/rocprof_record.h"

#include "trace/formats/json/number.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

std::array<std::int64_t, 3> triple_of(std::string_view value) {
  return {integer_or(member_of(value, "x"), 0), integer_or(member_of(value, "y"), 0),
          integer_or(member_of(value, "z"), 0)};
}

void take_member(RocprofRecord& record, std::string_view key, std::string_view value) {
  if (key == "start_timestamp") {
    record.start_ns = integer_or(value, -1);
  } else if (key == "end_timestamp") {
    record.end_ns = integer_or(value, -1);
  } else if (key == "kind") {
    record.kind = integer_or(value, -1);
  } else if (key == "operation") {
    record.operation = integer_or(value, -1);
  } else if (key == "thread_id") {
    record.thread = integer_or(value, 0);
  } else if (key == "correlation_id") {
    record.correlation = integer_or(member_of(value, "internal"), 0);
  } else if (key == "stream_id") {
    record.stream = handle_of(value);
  } else if (key == "queue_id") {
    record.queue = handle_of(value);
  } else if (key == "agent_id" || key == "dst_agent_id") {
    record.agent = handle_of(value);
  } else if (key == "src_agent_id") {
    record.source_agent = handle_of(value);
  } else if (key == "kernel_id") {
    record.kernel = integer_or(value, -1);
  } else if (key == "bytes" || key == "allocation_size") {
    record.bytes = integer_or(value, -1);
  } else if (key == "address") {
    record.address = handle_of(value);
  } else if (key == "group_segment_size") {
    record.shared_memory = integer_or(value, 0);
  } else if (key == "workgroup_size") {
    record.workgroup = triple_of(value);
  } else if (key == "grid_size") {
    record.grid = triple_of(value);
  }
}

}  // namespace

std::int64_t integer_or(std::string_view token, std::int64_t fallback) {
  return integer_from(token).value_or(fallback);
}

std::string text_of(std::string_view token) { return unescaped(without_quotes(token)); }

std::string_view member_of(std::string_view object, std::string_view key) {
  Members members(object);
  while (members.next()) {
    if (members.key().text == key) return members.value();
  }
  return {};
}

std::int64_t handle_of(std::string_view value) {
  return integer_or(value.starts_with('{') ? member_of(value, "handle") : value, -1);
}

ListElements::ListElements(std::string_view list)
    : scanner_(list.data() + list.size()), at_(list.data()) {
  at_ = list.starts_with('[') ? scanner_.skip_blanks(at_ + 1) : nullptr;
}

bool ListElements::next() {
  if (at_ == nullptr || at_ >= scanner_.end() || *at_ == ']') return false;
  const char* const behind = scanner_.value(at_);
  if (behind == nullptr) return false;
  value_ = {at_, static_cast<std::size_t>(behind - at_)};
  at_ = scanner_.skip_blanks(behind);
  at_ = at_ < scanner_.end() && *at_ == ',' ? scanner_.skip_blanks(at_ + 1) : nullptr;
  return true;
}

RocprofRecord rocprof_record(std::string_view object) {
  RocprofRecord record;
  Members members(object);
  while (members.next()) {
    const std::string_view key = members.key().text;
    if (key == "dispatch_info") {
      Members inner(members.value());
      while (inner.next()) {
        take_member(record, inner.key().text, inner.value());
      }
    } else {
      take_member(record, key, members.value());
    }
  }
  record.has_times = record.start_ns >= 0 && record.end_ns >= 0;
  return record;
}

}  // namespace foretrace::trace::formats
