#include "apps/report/report_claims.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::ClaimRow;
using driver::Gain;
using driver::Verdict;

std::string gain_text(const Gain& gain) {
  return gain.low == gain.high ? factor_text(gain.low)
                               : factor_text(gain.low) + " to " + factor_text(gain.high);
}

std::string published_text(const ClaimRow& row) {
  return row.published_gain ? gain_text(*row.published_gain) : "-";
}

std::string predicted_text(const ClaimRow& row) {
  return row.predicted.low == row.predicted.high
             ? factor_text(row.predicted_gain)
             : fmt::format("{} ({})", factor_text(row.predicted_gain), gain_text(row.predicted));
}

std::size_t count(const std::vector<ClaimRow>& claims, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(claims.begin(), claims.end(),
                    [verdict](const ClaimRow& row) { return row.verdict() == verdict; }));
}

/// Text that may hold '|' for a cell of a table.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

}  // namespace

std::string claims_headline(const std::vector<ClaimRow>& claims) {
  const auto failed = static_cast<std::size_t>(std::count_if(
      claims.begin(), claims.end(), [](const ClaimRow& row) { return !row.failure.empty(); }));
  const std::size_t not_comparable = count(claims, Verdict::not_comparable);
  const std::size_t compared =
      claims.size() - count(claims, Verdict::not_compared) - not_comparable;
  return fmt::format(
      "{} of {} published gains are inside the predicted range; {} below, {} above, {} opposite;\n"
      "{} are beside a published figure that they are not comparable with;\n"
      "{} rows are predicted without a published figure, {} are not predicted\n",
      count(claims, Verdict::inside), compared, count(claims, Verdict::below),
      count(claims, Verdict::above), count(claims, Verdict::opposite), not_comparable,
      claims.size() - compared - not_comparable - failed, failed);
}

std::string claims_markdown(const std::vector<ClaimRow>& claims) {
  std::string text =
      "| row | source | published | gain of | published | predicted (range) | | with, on | why "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  for (const ClaimRow& row : claims) {
    text +=
        row.failure.empty()
            ? fmt::format("| {} | {} | {} | {} | {} | {} | {} | `{}`, {} | {} |\n", row.name,
                          row.source, row.published, to_string(row.of), published_text(row),
                          predicted_text(row), to_string(row.verdict()), cell(row.applied),
                          row.workload, row.not_comparable.empty() ? row.why : row.not_comparable)
            : fmt::format("| {} | {} | {} | | {} | | - | | not predicted: {} |\n", row.name,
                          row.source, row.published, published_text(row), row.failure);
  }
  return text;
}

std::string claims_page(const std::vector<ClaimRow>& claims) {
  using Align = Table::Align;
  Table table({Align::left, Align::left, Align::right, Align::right, Align::left, Align::left});
  table.row({"row", "gain of", "published", "predicted", "", "on"});
  std::string missing;
  for (const ClaimRow& row : claims) {
    if (row.failure.empty()) {
      table.row({row.name, std::string(to_string(row.of)), published_text(row),
                 factor_text(row.predicted_gain), std::string(to_string(row.verdict())),
                 row.workload});
    } else {
      missing += paragraph(fmt::format("  {}: ", row.name), row.failure);
    }
  }
  return claims_headline(claims) + "\n" + table.text(2) + "\nnot predicted\n" + missing;
}

nlohmann::ordered_json claims_json(const std::vector<ClaimRow>& claims) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ClaimRow& row : claims) {
    nlohmann::ordered_json entry = {
        {"name", row.name}, {"source", row.source}, {"published", row.published}};
    if (row.published_gain) {
      entry["published_gain"] = {row.published_gain->low, row.published_gain->high};
    }
    if (row.failure.empty()) {
      entry.update({{"gain_of", to_string(row.of)},
                    {"applied", row.applied},
                    {"workload", row.workload},
                    {"predicted_gain", row.predicted_gain},
                    {"predicted_range", {row.predicted.low, row.predicted.high}},
                    {"verdict", to_string(row.verdict())}});
      if (!row.not_comparable.empty()) {
        entry["not_comparable"] = row.not_comparable;
      }
    } else {
      entry["failure"] = row.failure;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace foretrace::app
