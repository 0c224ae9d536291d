#include "models/hardware/collectives/calibration/calibrate_machine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/collectives/measured_curve.h"
#include "models/hardware/costs/calibration/calibrate.h"
#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"
#include "sim/core/config_text.h"

namespace foretrace {
namespace {

constexpr std::string_view machine_schema = "foretrace.cluster/1";
constexpr std::size_t least_sizes = 3;

/// "1 MiB", where it is whole.
std::string size_text(double bytes) {
  constexpr double kib = 1024;
  constexpr double mib = 1024 * kib;
  constexpr double gib = 1024 * mib;
  for (const auto& [unit, name] : {std::pair{gib, "GiB"}, {mib, "MiB"}, {kib, "KiB"}}) {
    if (std::fmod(bytes, unit) == 0) return fmt::format("{:.0f} {}", bytes / unit, name);
  }
  return fmt::format("{:.0f} B", bytes);
}

ConfigValue curve_value(const MeasuredCurve& curve) {
  ConfigValue value{.kind = ConfigValue::Kind::object, .text = {}, .keys = {}, .items = {}};
  set_member(value, "collective", text_value(std::string(to_string(curve.kind))));
  set_member(value, "ranks", number_value(std::to_string(curve.ranks)));
  set_member(value, "nodes", number_value(std::to_string(curve.nodes)));
  set_member(value, "source", text_value(curve.source));
  ConfigValue points{.kind = ConfigValue::Kind::list, .text = {}, .keys = {}, .items = {}};
  for (std::size_t i = 0; i < curve.bytes.size(); ++i) {
    points.items.push_back(
        text_value(fmt::format("{}={:.6g} us", size_text(curve.bytes[i]), curve.ns[i] * 1e-3)));
  }
  set_member(value, "points", std::move(points));
  return value;
}

/// Every second size by a curve through the others.
std::vector<double> held_back_errors(const MeasuredCurve& curve) {
  MeasuredCurve others{.kind = curve.kind, .bytes = {}, .ns = {}, .source = {}};
  for (std::size_t i = 0; i < curve.bytes.size(); i += 2) {
    others.bytes.push_back(curve.bytes[i]);
    others.ns.push_back(curve.ns[i]);
  }
  std::vector<double> errors;
  for (std::size_t i = 1; i < curve.bytes.size(); i += 2) {
    errors.push_back(curve_ns(others, curve.bytes[i]) / curve.ns[i] - 1);
  }
  return errors;
}

class Calibrating {
 public:
  explicit Calibrating(Cluster machine) : machine_(std::move(machine)) {}

  Status take(const MeasuredRun& run) {
    FORETRACE_TRY(const auto group, group_of(run));
    const CollectiveLog& log = run.log;
    CurveErrors errors{.kind = log.kind,
                       .ranks = log.ranks,
                       .nodes = log.nodes,
                       .damaged = log.damaged,
                       .before = {},
                       .held_back = {}};
    MeasuredCurve curve{.kind = log.kind,
                        .ranks = log.ranks,
                        .nodes = log.nodes,
                        .bytes = {},
                        .ns = {},
                        .source = run.source};
    std::vector<double> before;
    for (std::size_t i = 0; i < log.bytes.size(); ++i) {
      const CollectiveCall call{log.kind, log.bytes[i], group};
      if (log.ns[i] < time_on_links(machine_, call)) {
        ++errors.set_aside;
        continue;
      }
      curve.bytes.push_back(log.bytes[i]);
      curve.ns.push_back(log.ns[i]);
      before.push_back(collective_time(machine_, call).ns / log.ns[i] - 1);
    }
    if (curve.bytes.size() < least_sizes) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: got {} sizes that the links of {} can carry, expected at "
                               "least {}",
                               run.source, curve.bytes.size(), machine_.name, least_sizes)};
    }
    errors.before = summarize(std::move(before));
    errors.held_back = summarize(held_back_errors(curve));
    errors_.push_back(errors);
    curves_.push_back(std::move(curve));
    return ok_status();
  }

  [[nodiscard]] CalibratedMachine made(ConfigValue document) && {
    ConfigValue list{.kind = ConfigValue::Kind::list, .text = {}, .keys = {}, .items = {}};
    if (const ConfigValue* const has = document.find("curves")) {
      for (std::size_t i = 0; i < has->items.size() && i < machine_.curves.size(); ++i) {
        if (!is_measured_anew(machine_.curves[i])) list.items.push_back(has->items[i]);
      }
    }
    for (const MeasuredCurve& curve : curves_) list.items.push_back(curve_value(curve));
    set_member(document, "curves", std::move(list));
    set_member(document, "machine", text_value(machine_.machine + ", with measured collectives"));
    erase_member(document, "usual");
    return {config_file_text(document), std::move(errors_)};
  }

 private:
  Result<Placement> group_of(const MeasuredRun& run) const {
    const CollectiveLog& log = run.log;
    const auto wrong = [&run](const std::string& what) {
      return Error{ErrorCode::bad_format, fmt::format("{}: {}", run.source, what)};
    };
    if (log.kind == CollectiveKind::none) {
      return wrong(
          "it does not say which collective, expected the name of its program such as "
          "all_reduce_perf");
    }
    if (log.ranks == 0 || log.nodes == 0) {
      return wrong("it does not say how many ranks on how many nodes, expected a line of each");
    }
    const std::uint32_t node = machine_.node_accelerators;
    const std::uint32_t per_node = log.ranks / log.nodes;
    if (log.ranks < 2 || per_node * log.nodes != log.ranks || per_node > node ||
        log.nodes > machine_.nodes) {
      return wrong(
          fmt::format("got {} ranks on {} nodes, expected 2 or more, alike on at most {} "
                      "nodes of {} that {} has",
                      log.ranks, log.nodes, machine_.nodes, node, machine_.name));
    }
    return place_alone(machine_, log.nodes, per_node);
  }

  [[nodiscard]] bool is_measured_anew(const MeasuredCurve& old) const {
    return std::any_of(curves_.begin(), curves_.end(), [&old](const MeasuredCurve& curve) {
      return curve.kind == old.kind && curve.ranks == old.ranks && curve.nodes == old.nodes;
    });
  }

  Cluster machine_;
  std::vector<MeasuredCurve> curves_;
  std::vector<CurveErrors> errors_;
};

}  // namespace

Result<CalibratedMachine> calibrate_machine(const Catalogue& catalogue, const std::string& base,
                                            std::span<const MeasuredRun> runs) {
  FORETRACE_TRY(auto machine, find_cluster(catalogue, base));
  ConfigValue document;
  if (const auto known = catalogue.document({"cluster", "clusters"}, base); known.ok()) {
    document = **known;
  } else {
    FORETRACE_TRY(document, read_config(base, machine_schema));
  }
  Calibrating all(std::move(machine));
  for (const MeasuredRun& run : runs) FORETRACE_TRY(all.take(run));
  CalibratedMachine made = std::move(all).made(std::move(document));
  FORETRACE_TRY(parse_cluster(catalogue, made.text, base));
  return made;
}

}  // namespace foretrace
