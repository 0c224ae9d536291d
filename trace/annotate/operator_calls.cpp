// Calls of operators.
#include "trace/annotate/operator_calls.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "sim/core/text.h"

namespace foretrace::trace {
namespace {

constexpr std::uint32_t no_work = 0xFFFFFFFFU;

}  // namespace

OperatorCalls::OperatorCalls(const EventTable& events, const Annotation& annotation)
    : events_(events),
      annotation_(annotation),
      nesting_(nest(events)),
      work_of_(events.size(), no_work) {
  collect_work();
}

void OperatorCalls::collect_work() {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const EventId owner = annotation_.operator_event[i];
    if (!events_.is_device_event(make_id<EventId>(i)) || owner == none<EventId>) continue;
    std::uint32_t& number = work_of_[index(owner)];
    if (number == no_work) {
      number = static_cast<std::uint32_t>(works_.size());
      works_.emplace_back();
    }
    OwnWork& work = works_[number];
    work.device = events_.tracks[index(events_.track[i])].device;
    const std::string_view name = events_.name_of(make_id<EventId>(i));
    const bool is_copy = events_.kind[i] == EventKind::copy;
    const bool uploads = is_copy && foretrace::contains(name, "HtoD");
    const bool downloads = is_copy && foretrace::contains(name, "DtoH");
    work.uploads = work.uploads || uploads;
    work.downloads = work.downloads || downloads;
    work.computes = work.computes || !(uploads || downloads);
    work.kernels += events_.kind[i] == EventKind::kernel ? 1 : 0;
  }
}

const OwnWork* OperatorCalls::work_of(EventId event) const {
  const std::uint32_t number = work_of_[index(event)];
  return number == no_work ? nullptr : &works_[number];
}

EventId OperatorCalls::caller_of(EventId event) const {
  const EventId outer = nesting_.parent_of(event);
  return outer == none<EventId> ? outer : annotation_.operator_event[index(outer)];
}

bool OperatorCalls::contains(EventId outer, EventId inner) const {
  return events_.track[index(outer)] == events_.track[index(inner)] &&
         events_.start_ns[index(outer)] <= events_.start_ns[index(inner)] &&
         events_.end_ns(inner) <= events_.end_ns(outer);
}

std::vector<EventId> OperatorCalls::in_order_of_return() const {
  std::vector<EventId> order;
  for (const EventId event : nesting_.order) {
    if (events_.kind[index(event)] == EventKind::cpu_op || clears_gradients(events_, event)) {
      order.push_back(event);
    }
  }
  std::reverse(order.begin(), order.end());
  std::stable_sort(order.begin(), order.end(), [&](EventId a, EventId b) {
    return std::tuple(events_.end_ns(a), -events_.start_ns[index(a)]) <
           std::tuple(events_.end_ns(b), -events_.start_ns[index(b)]);
  });
  return order;
}

bool clears_gradients(const EventTable& events, EventId event) {
  return events.kind[index(event)] == EventKind::user_annotation &&
         foretrace::contains(events.name_of(event), "zero_grad");
}

}  // namespace foretrace::trace
