#include "sim/graph/task.h"

namespace foretrace {

std::string_view to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::host: return "host";
    case TaskKind::launch: return "launch";
    case TaskKind::kernel: return "kernel";
    case TaskKind::collective: return "collective";
    case TaskKind::copy: return "copy";
    case TaskKind::set: return "set";
    case TaskKind::synchronization: return "synchronization";
    case TaskKind::wait: return "wait";
    case TaskKind::mark: return "mark";
    case TaskKind::transfer: return "transfer";
  }
  return "?";
}

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::unknown: return "unknown";
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
    case Phase::update: return "update";
    case Phase::data_loading: return "data_loading";
    case Phase::communication: return "communication";
  }
  return "?";
}

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::unknown: return "unknown";
    case Precision::fp64: return "fp64";
    case Precision::fp32: return "fp32";
    case Precision::tf32: return "tf32";
    case Precision::fp16: return "fp16";
    case Precision::bf16: return "bf16";
    case Precision::fp8: return "fp8";
    case Precision::int8: return "int8";
  }
  return "?";
}

std::string_view to_string(Provenance provenance) {
  switch (provenance) {
    case Provenance::measured: return "measured";
    case Provenance::scaled: return "scaled";
    case Provenance::table: return "table";
    case Provenance::roofline: return "roofline";
    case Provenance::assumed: return "assumed";
  }
  return "?";
}

std::string_view to_string(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::none: return "none";
    case DependencyKind::program_order: return "program_order";
    case DependencyKind::stream_order: return "stream_order";
    case DependencyKind::launch: return "launch";
    case DependencyKind::event_wait: return "event_wait";
    case DependencyKind::synchronization: return "synchronization";
    case DependencyKind::queue: return "queue";
    case DependencyKind::capacity: return "capacity";
    case DependencyKind::hand_over: return "hand_over";
    case DependencyKind::data: return "data";
    case DependencyKind::memory: return "memory";
    case DependencyKind::rendezvous: return "rendezvous";
    case DependencyKind::boundary: return "boundary";
    case DependencyKind::control: return "control";
  }
  return "?";
}

std::string_view to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::none: return "unknown";
    case CollectiveKind::all_reduce: return "all_reduce";
    case CollectiveKind::all_gather: return "all_gather";
    case CollectiveKind::reduce_scatter: return "reduce_scatter";
    case CollectiveKind::all_to_all: return "all_to_all";
    case CollectiveKind::broadcast: return "broadcast";
    case CollectiveKind::reduce: return "reduce";
    case CollectiveKind::gather: return "gather";
    case CollectiveKind::scatter: return "scatter";
    case CollectiveKind::barrier: return "barrier";
    case CollectiveKind::send: return "send";
    case CollectiveKind::receive: return "receive";
    case CollectiveKind::send_receive: return "send_receive";
  }
  return "unknown";
}

std::string_view to_string(TensorCategory category) {
  switch (category) {
    case TensorCategory::unknown: return "unknown";
    case TensorCategory::weight: return "weight";
    case TensorCategory::gradient: return "gradient";
    case TensorCategory::optimizer_state: return "optimizer_state";
    case TensorCategory::activation: return "activation";
    case TensorCategory::temporary: return "temporary";
    case TensorCategory::communication: return "communication";
    case TensorCategory::kv_cache: return "kv_cache";
    case TensorCategory::input: return "input";
    case TensorCategory::workspace: return "workspace";
    case TensorCategory::activation_gradient: return "activation_gradient";
  }
  return "?";
}

}  // namespace foretrace
