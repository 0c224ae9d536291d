// Reads sweep files.
#include "apps/sweep/space/sweep.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "apps/sweep/space/document.h"
#include "apps/sweep/space/read_axes.h"
#include "models/jobs/scenario/scenario_files.h"
#include "sim/core/config_text.h"
#include "sim/core/params.h"

namespace foretrace::sweeping {
namespace {

constexpr double most_samples = 1e12;
constexpr double most_searched = 1e7;  // they are kept in memory
constexpr double most_population = 4096;

/// Names of the metrics of a store; nothing: there is none.
using Columns = std::optional<std::span<const std::string>>;

/// A scenario whose workload is a recording is about that recording.
Subject subject_of(const ConfigValue& scenario) {
  return has_trace(scenario) ? Subject::trace : Subject::scenario;
}

/// Names in a scenario's file are relative to that file; those in a sweep to the sweep's. What is
/// found from the working folder alone gets its whole path.
void place_beside(const std::string& scenario, const std::string& folder, ConfigValue& document) {
  const std::string place = std::filesystem::path(scenario).parent_path().string();
  place_files(document, [&](const std::string& name) {
    std::error_code failed;
    std::string there = beside(place, name);
    const bool is_there = std::filesystem::exists(beside(folder, there), failed);
    if (is_there || !std::filesystem::exists(name, failed)) return there;
    const auto whole = std::filesystem::absolute(name, failed);
    return failed ? there : whole.string();
  });
}

/// The document: a recording and what-ifs, or a scenario (a file, or what would stand in it).
void read_document(ConfigFields& fields, Sweep& sweep) {
  const bool has_trace = fields.has("trace");
  if (has_trace == fields.has("scenario")) {
    return fields.mistake(has_trace ? "scenario" : "trace",
                          has_trace ? "cannot be used with \"trace\", expected one of the two"
                                    : "missing key, expected \"trace\" or \"scenario\"");
  }
  sweep.subject = has_trace ? Subject::trace : Subject::scenario;
  ConfigValue& document = sweep.document;
  document.kind = ConfigValue::Kind::object;
  if (has_trace) {
    for (const std::string_view key : {"trace", "apply", "accelerator", "step", "engine"}) {
      const ConfigValue* value = fields.optional_value(key);
      if (value == nullptr) continue;
      document.keys.emplace_back(key);
      document.items.push_back(*value);
    }
    return;
  }
  const ConfigValue& value = *fields.optional_value("scenario");
  if (value.kind == ConfigValue::Kind::object) {
    document = value;
    sweep.subject = subject_of(document);
    return;
  }
  if (value.kind != ConfigValue::Kind::text) {
    return fields.mistake(
        "scenario", fmt::format("{}, expected a file or a scenario's object", value.described()));
  }
  auto read = read_config(beside(sweep.folder, value.text), "foretrace.scenario/1");
  if (!read.ok()) return fields.mistake("scenario", read.error().message);
  document = std::move(*read);
  sweep.subject = subject_of(document);
  place_beside(value.text, sweep.folder, document);
}

void read_search(ConfigFields& method, Sweep& sweep) {
  const bool anneals = sweep.method == Method::annealing;
  const std::string_view width = anneals ? "chains" : "population";
  double points = 0;
  double population = anneals ? 8 : 32;
  double seed = 0;
  method.quantity("points", ParamType::integer, points);
  method.optional_quantity(width, ParamType::integer, population);
  method.optional_quantity("seed", ParamType::integer, seed);
  if (!(points >= 1 && points <= most_searched)) {
    method.mistake("points", "expected a whole number from 1 to 1e7");
  }
  if (!(population >= 1 && population <= most_population)) {
    method.mistake(width, "expected a whole number from 1 to 4096");
  }
  if (!(seed >= 0 && seed <= 1e15)) method.mistake("seed", "expected a number from 0 to 1e15");
  sweep.search = {static_cast<std::uint64_t>(std::max(1.0, points)),
                  static_cast<std::uint64_t>(std::max(1.0, population)),
                  static_cast<std::uint64_t>(std::max(0.0, seed))};
}

void read_method(ConfigFields& fields, Sweep& sweep, std::vector<Axis>& axes) {
  double samples = 0;
  double seed = 0;
  if (const ConfigValue* object = fields.optional_object("method")) {
    ConfigFields inner(*object, fields.file(), fields.pointer_of("method"));
    std::array<std::string_view, method_count> words;
    for (std::size_t i = 0; i < method_count; ++i) words[i] = to_string(static_cast<Method>(i));
    if (const auto word = inner.word("kind", words)) {
      sweep.method = static_cast<Method>(*word);
    } else {
      // What else stands there belongs to the method that was meant.
      for (const std::string& key : object->keys) static_cast<void>(inner.optional_value(key));
    }
    if (sweep.method == Method::random || sweep.method == Method::latin_hypercube) {
      inner.quantity("points", ParamType::integer, samples);
      inner.optional_quantity("seed", ParamType::integer, seed);
      if (!(samples >= 1 && samples <= most_samples)) {
        inner.mistake("points", "expected a whole number from 1 to 1e12");
      }
      if (!(seed >= 0 && seed <= 1e15)) inner.mistake("seed", "expected a number from 0 to 1e15");
    }
    if (is_search(sweep.method)) read_search(inner, sweep);
    if (sweep.method == Method::list) read_listed_points(inner, axes);
    fields.take(inner.finish());
  }
  const bool draws = sweep.method == Method::random || sweep.method == Method::latin_hypercube;
  for (const Axis& axis : axes) {
    if (!axis.is_listed() && !draws) {
      fields.mistake("axes", fmt::format("'{}' has neither \"values\" nor \"count\", which only "
                                         "the methods random and latin_hypercube allow",
                                         axis.name));
    }
  }
  if (!draws) samples = 1;
  auto space = Space::make(std::move(axes), sweep.method, static_cast<std::uint64_t>(samples),
                           static_cast<std::uint64_t>(seed));
  if (!space.ok()) return fields.mistake("", space.error().message);
  sweep.space = std::move(*space);
}

Expression read_expression(ConfigFields& fields, std::string_view key, const std::string& text,
                           std::span<const std::string> names) {
  auto expression = Expression::parse(text, names);
  if (expression.ok()) return std::move(*expression);
  fields.mistake(key, expression.error().message);
  return {};
}

void read_objectives(ConfigFields& fields, Sweep& sweep, std::span<const std::string> names) {
  const ConfigValue* list = fields.optional_value("objectives");
  const auto add = [&](ConfigFields& at, std::string_view key, const std::string& text,
                       bool is_maximized) {
    sweep.objectives.push_back({read_expression(at, key, text, names), is_maximized});
  };
  if (list == nullptr) return add(fields, "", "step_ns", false);
  if (list->kind != ConfigValue::Kind::list || list->items.empty()) {
    return fields.mistake("objectives",
                          "expected a list such as [\"step_ns\", {\"maximize\": \"speedup\"}]");
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const ConfigValue& item = list->items[i];
    if (item.kind == ConfigValue::Kind::text) {
      add(fields, "objectives", item.text, false);
      continue;
    }
    if (item.kind != ConfigValue::Kind::object) {
      fields.mistake("objectives",
                     fmt::format("{} in the list, expected an expression", item.described()));
      continue;
    }
    ConfigFields inner(item, fields.file(),
                       fmt::format("{}/{}", fields.pointer_of("objectives"), i));
    const bool is_maximized = inner.has("maximize");
    std::string text;
    inner.text(is_maximized ? "maximize" : "minimize", text);
    if (!text.empty()) add(inner, is_maximized ? "maximize" : "minimize", text, is_maximized);
    fields.take(inner.finish());
  }
}

/// Metrics of a store that cannot be read as it is told of.
Status check_stored_metrics(const Sweep& sweep, std::span<const std::string> columns) {
  const auto refuse = [&](std::string_view what, std::string_view name) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: the results {} {}: another version of the program wrote them and "
                             "can show them; a fresh sweep computes them again",
                             sweep.path, what, in_quotes(name))};
  };
  const auto known = metrics_of(sweep.subject);
  for (const std::string& column : columns) {
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const MetricInfo& metric) {
      return metric.name == column;
    });
    if (!is_known) return refuse("contain the unknown metric", column);
  }
  for (const MetricInfo& metric : sweep.metrics) {
    if (std::find(columns.begin(), columns.end(), metric.name) == columns.end()) {
      return refuse("lack the metric", metric.name);
    }
  }
  return ok_status();
}

/// Metrics that are usual, asked for, or named in an expression (of a store: those that it has);
/// expressions see them by number only once that is known, so they are read twice.
void read_questions(ConfigFields& fields, Sweep& sweep, const Columns& columns) {
  const auto known = metrics_of(sweep.subject);
  const std::size_t first = sweep.axes().size();
  std::vector<std::string> names;
  for (const Axis& axis : sweep.axes()) names.push_back(axis.name);
  for (const MetricInfo& metric : known) names.emplace_back(metric.name);
  std::vector<std::string> asked;
  std::vector<std::string> constraints;
  fields.optional_texts("metrics", asked);
  fields.optional_texts("constraints", constraints);
  std::vector<bool> wanted(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto is_in = [&](std::span<const std::string> list) {
      return std::find(list.begin(), list.end(), known[i].name) != list.end();
    };
    wanted[i] = columns ? is_in(*columns) : known[i].is_usual || is_in(asked);
  }
  for (const std::string& name : asked) {
    std::vector<std::string_view> valid(names.begin() + static_cast<std::ptrdiff_t>(first),
                                        names.end());
    if (std::find(valid.begin(), valid.end(), name) != valid.end()) continue;
    fields.mistake("metrics", fmt::format("got {}{}, expected one of {}", in_quotes(name),
                                          did_you_mean(name, valid), fmt::join(valid, ", ")));
  }
  read_objectives(fields, sweep, names);
  for (const std::string& text : constraints) {
    sweep.constraints.push_back({read_expression(fields, "constraints", text, names), false});
  }
  const auto note = [&](const Expression& expression) {
    for (const std::size_t name : expression.uses()) {
      if (name >= first) wanted[name - first] = true;
    }
  };
  for (const Objective& objective : sweep.objectives) note(objective.value);
  for (const Constraint& constraint : sweep.constraints) note(constraint.holds);
  names.resize(first);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!wanted[i]) continue;
    sweep.metrics.push_back(known[i]);
    names.emplace_back(known[i].name);
  }
  sweep.names = names;
  const auto again = [&](Expression& expression) {
    if (auto parsed = Expression::parse(expression.text(), names); parsed.ok()) {
      expression = std::move(*parsed);
    }
  };
  for (Objective& objective : sweep.objectives) again(objective.value);
  for (Constraint& constraint : sweep.constraints) {
    again(constraint.holds);
    constraint.needs_results =
        std::any_of(constraint.holds.uses().begin(), constraint.holds.uses().end(),
                    [&](std::size_t name) { return name >= first; });
  }
}

/// What a store keeps: with the scenario itself, which may be another one in its file tomorrow.
ConfigValue with_scenario(const ConfigValue& root, const ConfigValue& scenario) {
  ConfigValue whole = root;
  for (std::size_t i = 0; i < whole.keys.size(); ++i) {
    if (whole.keys[i] == "scenario") whole.items[i] = scenario;
  }
  return whole;
}

Result<Sweep> sweep_from(const ConfigValue& root, const std::string& where,
                         const std::string& folder, const Columns& columns = {}) {
  Sweep sweep;
  sweep.path = where;
  sweep.folder = folder;
  sweep.text = json_text(root);
  ConfigFields fields(root, where);
  std::string description;
  fields.optional_text("description", description);
  read_document(fields, sweep);
  if (sweep.subject == Subject::scenario)
    sweep.text = json_text(with_scenario(root, sweep.document));
  std::vector<Axis> axes = read_axes(fields, sweep.document, metrics_of(sweep.subject));
  read_method(fields, sweep, axes);
  read_questions(fields, sweep, columns);
  FORETRACE_TRY(fields.finish());
  if (columns) {
    FORETRACE_TRY(check_stored_metrics(sweep, *columns));
  }
  return sweep;
}

}  // namespace

std::string beside(const std::string& folder, const std::string& file) {
  const std::filesystem::path path(file);
  return path.is_absolute() || folder.empty() ? file
                                              : (std::filesystem::path(folder) / path).string();
}

ConfigValue Sweep::document_at(std::span<const double> where) const {
  ConfigValue at = document;
  for (std::size_t axis = 0; axis < axes().size(); ++axis) {
    // Pointers were tried when the file was read, with values that may take members away.
    static_cast<void>(
        set_at(at, axes()[axis].parts, Space::value_of(axes()[axis], where[axis])).ok());
  }
  return at;
}

Result<Sweep> read_sweep(const std::string& path) {
  FORETRACE_TRY(auto root, read_config(path, sweep_schema));
  return sweep_from(root, path, std::filesystem::path(path).parent_path().string());
}

Result<Sweep> parse_sweep(std::string_view text, const std::string& where,
                          const std::string& folder) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, sweep_schema));
  return sweep_from(root, where, folder);
}

Result<Sweep> parse_stored_sweep(std::string_view text, const std::string& where,
                                 const std::string& folder, std::span<const std::string> columns) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, sweep_schema));
  return sweep_from(root, where, folder, columns);
}

}  // namespace foretrace::sweeping
