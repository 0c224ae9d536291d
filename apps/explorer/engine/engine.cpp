// The engine inside of a page: what the program says of the graphs that the page carries.
// Compiled for WebAssembly, where figures come and go as doubles; the page calls it in
// apps/explorer/page/model/engine.mjs.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/explorer/engine/graph_reader.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
#include "sim/graph/task_graph.h"
#include "sim/result/steps/step_breakdown.h"
#include "sim/result/steps/steps.h"

#define FORETRACE_EXPORT(name) extern "C" __attribute__((export_name(#name)))

// Nobody is there to read why: without these the module would carry all of printf.
void std::__libcpp_verbose_abort(const char* /*format*/, ...) { __builtin_trap(); }
extern "C" void abort() { __builtin_trap(); }
extern "C" void abort_message(const char* /*format*/, ...) { __builtin_trap(); }

namespace foretrace {

/// Nobody is there to catch it: the page says that it cannot simulate.
void invariants::check_failed(const char* /*condition*/, const char* /*file*/, int /*line*/) {
  __builtin_trap();
}

namespace explorer {
namespace {

/// What the page hands over: figures, and bytes behind them.
class Input {
 public:
  double* resize(std::size_t figures, std::size_t bytes) {
    figures_.assign(figures, 0);
    bytes_.assign(bytes, '\0');
    at_ = 0;
    return figures_.data();
  }
  [[nodiscard]] std::string& bytes() { return bytes_; }

  [[nodiscard]] double real() { return at_ < figures_.size() ? figures_[at_++] : 0; }
  template <typename T = std::int64_t>
  [[nodiscard]] T whole() {
    return static_cast<T>(static_cast<std::int64_t>(real()));
  }
  /// Its length, then its characters.
  [[nodiscard]] std::string text() {
    std::string text(whole<std::size_t>(), '\0');
    for (char& character : text) character = whole<char>();
    return text;
  }
  /// Rows behind their count; row() reads one.
  template <typename Row>
  [[nodiscard]] auto rows(const Row& row) {
    std::vector<decltype(row())> rows(whole<std::size_t>());
    for (auto& each : rows) each = row();
    return rows;
  }

 private:
  std::vector<double> figures_;
  std::string bytes_;
  std::size_t at_ = 0;
};

/// A graph of the page, and the last one that sliders made of it.
struct Side {
  HeldColumns held;
  std::vector<double> factors;
  TaskGraph weighed;
};

/// What the page reads next.
struct Output {
  std::vector<double> figures;
  std::vector<double> reals;
  std::vector<std::int32_t> wholes;
  std::vector<std::vector<double>> curves;
};

Input& input() {
  static Input given;
  return given;
}
Output& output() {
  static Output said;
  return said;
}

PackedGraph read_packed() {
  Input& in = input();
  PackedGraph packed;
  packed.columns = in.rows([&] {
    PackedColumn column;
    column.name = in.text();
    column.offset = in.whole<std::size_t>();
    column.bytes = in.whole<std::size_t>();
    column.count = in.whole<std::size_t>();
    column.unit = in.whole();
    return column;
  });
  packed.bytes = std::move(in.bytes());
  return packed;
}

GraphContext read_context() {
  Input& in = input();
  GraphContext context;
  context.works = in.rows([&] {
    Work work;
    work.name = in.whole<NameId>();
    work.kind = in.whole<TaskKind>();
    work.part = in.whole<TaskPart>();
    return work;
  });
  context.lanes = in.rows([&] {
    Lane lane;
    lane.kind = in.whole() != 0 ? LaneKind::host_thread : LaneKind::stream;
    lane.rank = in.whole<std::int32_t>();
    return lane;
  });
  context.steps = in.rows([&] {
    Step step;
    step.rank = in.whole<std::int32_t>();
    step.number = in.whole();
    step.begin = in.whole<TaskId>();
    step.end = in.whole<TaskId>();
    return step;
  });
  return context;
}

/// The graph under factors: of the host, of the device, then of single kernels, each rounded.
const TaskGraph& under_factors(Side& side) {
  Input& in = input();
  const auto factors = in.rows([&] { return in.real(); });
  if (factors == side.factors) return side.weighed;
  side.factors = factors;
  TaskGraph graph = side.held.graph;
  if (factors[0] != 1) graph = graph.with_weights(scale_host(graph, factors[0]));
  if (factors[1] != 1) graph = graph.with_weights(scale_device(graph, factors[1]));
  for (std::size_t i = 2; i + 1 < factors.size(); i += 2) {
    graph = graph.with_weights(scale_device(
        graph, factors[i + 1], static_cast<NameId>(static_cast<std::uint32_t>(factors[i]))));
  }
  side.weighed = std::move(graph);
  return side.weighed;
}

double place_of(const void* data) {
  return static_cast<double>(reinterpret_cast<std::uintptr_t>(data));
}

/// A column for the page: of doubles, or of integers of 32 bits.
template <typename T, typename Row, typename Of>
void say(const std::vector<Row>& rows, std::vector<T>& out, const Of& of) {
  out.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<T>(of(rows[i]));
}
template <typename T, typename Row>
void say(const std::vector<Row>& rows, std::vector<T>& out) {
  say(rows, out, [](const Row& row) { return row; });
}

/// Ids as the page knows them: -1 is none, which is the largest here.
template <typename Row, typename Of>
void say_ids(const std::vector<Row>& rows, const Of& of) {
  say(rows, output().wholes, [&](const Row& row) { return static_cast<std::uint32_t>(of(row)); });
}
template <typename Row>
void say_ids(const std::vector<Row>& rows) {
  say_ids(rows, [](const Row& row) { return row; });
}

void say_wholes(const Side& side, std::string_view name) {
  const TaskGraph& graph = side.held.graph;
  const TaskColumns& columns = graph.columns();
  const Topology& topology = graph.topology();
  const std::vector<SegmentPart>& parts = graph.context().segment_parts;
  std::vector<std::int32_t>& out = output().wholes;
  const auto sources = [&](Slot slot) {
    say_ids(topology.sources, [slot](const auto& row) { return row[slot]; });
  };
  const auto kinds = [&](Slot slot) {
    say(topology.kinds, out, [slot](const auto& row) { return row[slot]; });
  };
  out.clear();
  if (name == "origin") say_ids(side.held.origin);
  if (name == "lane") say_ids(columns.lane);
  if (name == "work") say_ids(columns.work);
  if (name == "kind") say(columns.kind, out);
  if (name == "phase") say(columns.phase, out);
  if (name == "provenance") say(columns.provenance, out);
  if (name == "lane_source") sources(lane_slot);
  if (name == "cause_source") sources(cause_slot);
  if (name == "extra_source") sources(extra_slot);
  if (name == "cause_kind") kinds(cause_slot);
  if (name == "extra_kind") kinds(extra_slot);
  if (name == "overflow_task") say_ids(topology.overflow, [](const auto& row) { return row.task; });
  if (name == "overflow_source")
    say_ids(topology.overflow, [](const auto& row) { return row.source; });
  if (name == "overflow_kind")
    say(topology.overflow, out, [](const auto& row) { return row.kind; });
  if (name == "part_task") say_ids(parts, [](const auto& part) { return part.task; });
  if (name == "part_label") say_ids(parts, [](const auto& part) { return part.label; });
}

void say_reals(const TaskGraph& graph, std::string_view name) {
  const Weights& weights = graph.weights();
  std::vector<double>& out = output().reals;
  const auto lags = [&](std::size_t slot) {
    say(*weights.lag_ns, out, [slot](const auto& row) { return row[slot]; });
  };
  out.clear();
  if (name == "duration") say(*weights.duration_ns, out);
  if (name == "segment") say(*weights.segment_ns, out);
  if (name == "cause") lags(0);
  if (name == "extra") lags(1);
  if (name == "overflow") say(*weights.overflow_lag_ns, out);
  if (name == "part_duration")
    say(graph.context().segment_parts, out, [](const auto& part) { return part.duration_ns; });
}

/// Where a column begins, and how many rows it has.
template <typename T>
const double* say_place(const std::vector<T>& values) {
  std::vector<double>& figures = output().figures;
  figures = {place_of(values.data()), static_cast<double>(values.size())};
  return figures.data();
}

void put(std::vector<double>& figures, std::initializer_list<std::int64_t> more) {
  for (const std::int64_t figure : more) figures.push_back(static_cast<double>(figure));
}

void put_memory(const TaskGraph& graph, const Timeline& timeline) {
  Output& out = output();
  const std::vector<MemoryCurve> curves =
      graph.context().tensors.empty() ? std::vector<MemoryCurve>() : track_memory(graph, timeline);
  out.curves.assign(2 * curves.size(), {});
  put(out.figures, {static_cast<std::int64_t>(curves.size())});
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const MemoryCurve& curve = curves[c];
    for (const MemoryPoint& point : curve.points) {
      out.curves[2 * c].push_back(static_cast<double>(point.time_ns));
      out.curves[2 * c + 1].push_back(static_cast<double>(point.live_bytes));
    }
    put(out.figures, {curve.rank, curve.device, curve.base_bytes, curve.peak_bytes,
                      curve.peak_at_ns, static_cast<std::int64_t>(curve.points.size())});
    out.figures.push_back(place_of(out.curves[2 * c].data()));
    out.figures.push_back(place_of(out.curves[2 * c + 1].data()));
  }
}

}  // namespace
}  // namespace explorer
}  // namespace foretrace

using namespace foretrace;
using namespace foretrace::explorer;

/// Room for so many figures, and in bytes() so many bytes.
FORETRACE_EXPORT(room) double* room(std::size_t figures, std::size_t bytes) {
  return input().resize(figures, bytes);
}
FORETRACE_EXPORT(bytes) char* room_of_bytes() { return input().bytes().data(); }

/// A graph that stands for itself (no base) or what a change made of another one; none: it is
/// damaged.
FORETRACE_EXPORT(open) Side* open_side(const Side* base) {
  const PackedGraph packed = read_packed();
  GraphContext context = read_context();
  Result<HeldColumns> held = base == nullptr
                                 ? read_graph(packed, std::move(context))
                                 : read_variant(packed, base->held.graph, std::move(context));
  if (!held.ok()) return nullptr;
  return std::make_unique<Side>(Side{*std::move(held), {}, {}}).release();
}
FORETRACE_EXPORT(close) void close_side(Side* side) { const std::unique_ptr<Side> last(side); }

FORETRACE_EXPORT(wholes) const double* wholes_of(const Side* side) {
  say_wholes(*side, input().text());
  return say_place(output().wholes);
}
FORETRACE_EXPORT(reals) const double* reals_of(Side* side) {
  const TaskGraph& graph = under_factors(*side);
  say_reals(graph, input().text());
  return say_place(output().reals);
}

FORETRACE_EXPORT(size) std::size_t size_of(const Side* side) { return side->held.graph.size(); }

FORETRACE_EXPORT(run) const double* run_side(Side* side) {
  const TaskGraph& graph = under_factors(*side);
  const bool is_chosen = input().whole() != 0;
  const StepChoice choice = {is_chosen ? StepChoice::Kind::number : StepChoice::Kind::median,
                             input().whole()};
  const Timeline timeline = simulate(graph);
  const StepTimes steps = simulated_steps(graph, timeline);
  std::optional<StepAnswer> answer = find_answer(steps, choice);
  if (!answer) answer = find_answer(steps, {});
  const Breakdown parts = step_breakdown(graph, timeline, steps, *answer);
  Output& out = output();
  out.figures.clear();
  say(timeline.points, out.reals);
  out.figures.push_back(place_of(out.reals.data()));
  put(out.figures, {timeline.span_ns, answer->step_ns, answer->is_span ? 1 : 0, parts.compute_ns,
                    parts.communication_exposed_ns, parts.communication_waiting_ns,
                    parts.memory_copy_ns, parts.host_bound_ns, parts.idle_ns});
  put_memory(graph, timeline);
  return out.figures.data();
}
