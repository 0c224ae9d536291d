// Reads and writes files of fitted constants; texts are written by hand, so that they stay small
// and are the same everywhere.
#include "models/hardware/catalogue/cost_file.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/config.h"

namespace foretrace {
namespace {

constexpr std::string_view costs_schema = "foretrace.costs/1";

// ---- Writing -----------------------------------------------------------------------------------

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string error_text(const ErrorSummary& error) {
  return fmt::format(
      R"({{"rows": {}, "mean": {:.4f}, "median": {:.4f}, "p90": {:.4f}, "bias": {:.4f}}})",
      error.rows, error.mean, error.median, error.p90, error.bias);
}

std::string constants_text(const OperatorFit& fit) {
  std::string text =
      fmt::format(R"("bandwidth_share": {}, "fixed": "{} ns")", fit.bandwidth_share, fit.fixed_ns);
  if (is_product(fit.kind)) text += fmt::format(R"(, "rate_share": {})", fit.rate_share);
  if (fit.form == FitForm::tiles) {
    text += fmt::format(R"(, "operand_traffic": {}, "tile_overhead_k": {}, "split": "{} ns")",
                        fit.operand_traffic, fit.tile_overhead_k, fit.split_ns);
  }
  if (fit.form == FitForm::rows) {
    text += fmt::format(R"(, "row_limit": "{} B", "excess_passes": {}, "row_bytes_per_ns": {})",
                        fit.row_limit, fit.excess_passes, fit.row_bytes_per_ns);
  }
  return "{" + text + "}";
}

std::string sources_text(const std::vector<SourceTerms>& sources) {
  std::string text;
  for (const SourceTerms& source : sources) {
    text += fmt::format(R"({}{{"source": {}, "clock": {}, "fixed": "{} ns", "floor": "{} ns"}})",
                        text.empty() ? "" : ", ", json_text(source.source), source.clock,
                        source.fixed_ns, source.floor_ns);
  }
  return "[" + text + "]";
}

std::string operator_text(const CalibratedOperator& fitted) {
  const OperatorFit& fit = fitted.chosen.fit;
  return fmt::format(
      "    {{\"accelerator\": {}, \"operator\": \"{}\", \"precision\": \"{}\", \"form\": \"{}\",\n"
      "     \"constants\": {},\n"
      "     \"low\": {}, \"high\": {},\n"
      "     \"sources\": {},\n"
      "     \"held_back\": {},\n"
      "     \"roofline_held_back\": {}}}",
      json_text(fitted.accelerator), to_string(fit.kind), to_string(fit.precision),
      to_string(fit.form), constants_text(fit), fit.low, fit.high,
      sources_text(fitted.chosen.sources), error_text(fitted.chosen.held_back),
      error_text(fitted.roofline.held_back));
}

// ---- Reading -----------------------------------------------------------------------------------

// A share or a factor that something is divided by.
void read_positive(ConfigFields& fields, std::string_view key, double most, double& out) {
  fields.quantity(key, ParamType::number, out);
  if (out >= 1e-6 && out <= most) return;
  fields.mistake(key, fmt::format("got {:g}, expected a value from 1e-06 to {:g}", out, most));
  out = 1;
}

ErrorSummary read_error(ConfigFields& fields, std::string_view key) {
  ErrorSummary error;
  const ConfigValue* object = fields.object(key);
  if (object == nullptr) return error;
  ConfigFields inner(*object, fields.file(), fields.pointer_of(key));
  double rows = 0;
  rows = read_within(inner, "rows", ParamType::integer, 1e9);
  error.rows = static_cast<std::size_t>(rows);
  inner.quantity("mean", ParamType::number, error.mean);
  inner.quantity("median", ParamType::number, error.median);
  inner.quantity("p90", ParamType::number, error.p90);
  inner.quantity("bias", ParamType::number, error.bias);
  fields.take(inner.finish());
  return error;
}

void read_constants(ConfigFields& fields, OperatorFit& fit) {
  constexpr double longest = 1e12;  // ns
  const ConfigValue* object = fields.object("constants");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("constants"));
  read_positive(inner, "bandwidth_share", 10, fit.bandwidth_share);
  fit.fixed_ns = read_within(inner, "fixed", ParamType::time, longest);
  if (is_product(fit.kind)) read_positive(inner, "rate_share", 10, fit.rate_share);
  if (fit.form == FitForm::tiles) {
    fit.operand_traffic = read_within(inner, "operand_traffic", ParamType::number, 1e6);
    fit.tile_overhead_k = read_within(inner, "tile_overhead_k", ParamType::number, 1e6);
    fit.split_ns = read_within(inner, "split", ParamType::time, longest);
  }
  if (fit.form == FitForm::rows) {
    fit.row_limit = read_within(inner, "row_limit", ParamType::bytes, 1e15);
    fit.excess_passes = read_within(inner, "excess_passes", ParamType::number, 1e3);
    read_positive(inner, "row_bytes_per_ns", 1e6, fit.row_bytes_per_ns);
  }
  fields.take(inner.finish());
}

CalibratedOperator read_operator(const ConfigValue& object, const std::string& file,
                                 const std::string& pointer, Status& status) {
  CalibratedOperator fitted;
  OperatorFit& fit = fitted.chosen.fit;
  ConfigFields fields(object, file, pointer);
  fields.text("accelerator", fitted.accelerator);
  fields.word<OperatorKind, operator_kind_count>("operator", fit.kind);
  fields.word<Precision, precision_count>("precision", fit.precision);
  fields.word<FitForm, fit_form_count>("form", fit.form);
  const bool fits = fit.form == FitForm::roofline ||
                    (fit.form == FitForm::tiles ? is_product(fit.kind) : reduces_rows(fit.kind));
  if (!fits) {
    fields.mistake("form", fmt::format("got {} for {}", to_string(fit.form), to_string(fit.kind)));
  }
  read_constants(fields, fit);
  read_positive(fields, "low", 1, fit.low);
  read_positive(fields, "high", 1e3, fit.high);
  fitted.chosen.held_back = read_error(fields, "held_back");
  fitted.roofline.held_back = read_error(fields, "roofline_held_back");
  const ConfigValue* sources = fields.objects("sources");
  for (std::size_t i = 0; sources != nullptr && i < sources->items.size(); ++i) {
    SourceTerms& source = fitted.chosen.sources.emplace_back();
    ConfigFields inner(sources->items[i], file, fmt::format("{}/sources/{}", pointer, i));
    inner.text("source", source.source);
    read_positive(inner, "clock", 100, source.clock);
    source.fixed_ns = read_within(inner, "fixed", ParamType::time, 1e12);
    source.floor_ns = read_within(inner, "floor", ParamType::time, 1e12);
    fields.take(inner.finish());
  }
  if (status) status = fields.finish();
  return fitted;
}

Result<CostFile> cost_file_from(const ConfigValue& root, const std::string& path) {
  CostFile file;
  Status status = ok_status();
  ConfigFields fields(root, path);
  std::string found;
  fields.text("schema", found);
  fields.optional_text("note", found);
  const ConfigValue* tables = fields.objects("tables");
  for (std::size_t i = 0; tables != nullptr && i < tables->items.size(); ++i) {
    TableOrigin& table = file.tables.emplace_back();
    ConfigFields inner(tables->items[i], path, fmt::format("/tables/{}", i));
    inner.text("table", table.name);
    inner.optional_text("origin", table.origin);
    inner.optional_text("licence", table.licence);
    inner.optional_text("paper", table.paper);
    fields.take(inner.finish());
  }
  const ConfigValue* fits = fields.objects("fits");
  for (std::size_t i = 0; fits != nullptr && i < fits->items.size(); ++i) {
    file.operators.push_back(
        read_operator(fits->items[i], path, fmt::format("/fits/{}", i), status));
  }
  FORETRACE_TRY(status);
  FORETRACE_TRY(fields.finish());
  return file;
}

}  // namespace

std::string cost_file_text(const CostFile& file) {
  std::string tables;
  for (const TableOrigin& table : file.tables) {
    tables +=
        fmt::format("{}    {{\"table\": {}", tables.empty() ? "" : ",\n", json_text(table.name));
    if (!table.origin.empty()) tables += ", \"origin\": " + json_text(table.origin);
    if (!table.licence.empty()) tables += ", \"licence\": " + json_text(table.licence);
    if (!table.paper.empty()) tables += ", \"paper\": " + json_text(table.paper);
    tables += "}";
  }
  std::string fits;
  for (const CalibratedOperator& fitted : file.operators) {
    fits += (fits.empty() ? "" : ",\n") + operator_text(fitted);
  }
  return fmt::format(
      "{{\n  \"schema\": \"{}\",\n  \"note\": \"fitted by foretrace calibrate; shares of the peak "
      "rates in the "
      "accelerator's file, at clock 1\",\n  \"tables\": [\n{}\n  ],\n  \"fits\": [\n{}\n  ]\n}}\n",
      costs_schema, tables, fits);
}

Result<CostFile> parse_cost_file(std::string_view text, const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, costs_schema));
  return cost_file_from(root, where);
}

Result<CostFile> read_cost_file(const std::string& path) {
  FORETRACE_TRY(const std::string text, read_config_text(path));
  return parse_cost_file(text, path);
}

Result<std::vector<CostFile>> read_cost_files(const std::string& directory) {
  std::vector<CostFile> files;
  for (const std::string& name : config_names(directory, "costs")) {
    FORETRACE_TRY(auto file, read_cost_file(config_file(directory, "costs", name)));
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<OperatorFit> fits_of(std::span<const CostFile> files, std::string_view accelerator) {
  std::vector<OperatorFit> fits;
  for (const CostFile& file : files) {
    for (const CalibratedOperator& fitted : file.operators) {
      const OperatorFit& fit = fitted.chosen.fit;
      const bool known = std::any_of(fits.begin(), fits.end(), [&](const OperatorFit& other) {
        return other.kind == fit.kind && other.precision == fit.precision;
      });
      if (fitted.accelerator == accelerator && !known) fits.push_back(fit);
    }
  }
  return fits;
}

}  // namespace foretrace
