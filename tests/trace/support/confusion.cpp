#include "tests/trace/support/confusion.h"

namespace foretrace::trace {
namespace {

void add(Confusion::Cell& to, const Confusion::Cell& cell) {
  to.count += cell.count;
  to.device_ns += cell.device_ns;
}

double share(double part, double rest) { return part + rest > 0 ? part / (part + rest) : 1.0; }

std::size_t row(Phase phase) { return static_cast<std::size_t>(phase); }

}  // namespace

Annotation annotate_without(const EventTable& events, PhaseEvidence left_out) {
  return annotate_with(events, EvidenceSet::all().without(left_out));
}

Confusion::Cell Confusion::agreed() const {
  Cell sum;
  for (std::size_t p = 1; p < phase_count; ++p) add(sum, cells[p][p]);
  return sum;
}

Confusion::Cell Confusion::disagreed() const {
  Cell sum;
  for (std::size_t p = 1; p < phase_count; ++p) {
    for (std::size_t q = 1; q < phase_count; ++q) {
      if (p != q) add(sum, cells[p][q]);
    }
  }
  return sum;
}

Confusion::Cell Confusion::undecided() const {
  Cell sum;
  for (std::size_t p = 1; p < phase_count; ++p) add(sum, cells[p][row(Phase::unknown)]);
  return sum;
}

Confusion& Confusion::operator+=(const Confusion& other) {
  for (std::size_t p = 0; p < phase_count; ++p) {
    for (std::size_t q = 0; q < phase_count; ++q) add(cells[p][q], other.cells[p][q]);
  }
  return *this;
}

double agreement_by_count(const Confusion& confusion) {
  return share(static_cast<double>(confusion.agreed().count),
               static_cast<double>(confusion.disagreed().count));
}

double agreement_by_time(const Confusion& confusion) {
  return share(static_cast<double>(confusion.agreed().device_ns),
               static_cast<double>(confusion.disagreed().device_ns));
}

Confusion compare_without(const EventTable& events, PhaseEvidence kind) {
  const Annotation only =
      annotate_with(events, EvidenceSet::only(kind).with(PhaseEvidence::collective));
  const Annotation others = annotate_without(events, kind);
  Confusion confusion;
  confusion.kind = kind;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool is_device = events.is_device_event(make_id<EventId>(i));
    if (!is_device && events.kind[i] != EventKind::cpu_op) continue;
    if (only.phase[i] == Phase::communication || others.phase[i] == Phase::communication) continue;
    Confusion::Cell& cell = confusion.cells[row(only.phase[i])][row(others.phase[i])];
    ++cell.count;
    if (is_device) cell.device_ns += events.duration_ns[i];
  }
  return confusion;
}

Coverage coverage_of(const EventTable& events, const Annotation& annotation) {
  Coverage coverage;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!events.is_device_event(make_id<EventId>(i))) continue;
    const Phase phase = annotation.phase[i];
    const std::int64_t duration_ns = events.duration_ns[i];
    coverage.device_ns += duration_ns;
    coverage.by_phase_ns[row(phase)] += duration_ns;
    coverage.by_evidence_ns[static_cast<std::size_t>(annotation.evidence[i])] += duration_ns;
    if (phase != Phase::forward && phase != Phase::backward) continue;
    coverage.model_ns += duration_ns;
    if (annotation.layer[i] != 0) coverage.model_layered_ns += duration_ns;
  }
  return coverage;
}

}  // namespace foretrace::trace
