// What a page knows beside its columns: names, lanes, steps, and the variants that it carries.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apps/explorer/page.h"
#include "sim/graph/task_graph.h"
#include "sim/result/export/graph_columns.h"

namespace foretrace::explorer {

/// Texts of all graphs of a page, each once.
class Strings {
 public:
  [[nodiscard]] std::size_t index_of(std::string_view text);
  [[nodiscard]] std::size_t size() const { return in_order_.size(); }
  /// From this one on.
  [[nodiscard]] nlohmann::json list(std::size_t first = 0) const;

 private:
  std::map<std::string, std::size_t, std::less<>> at_;
  std::vector<const std::string*> in_order_;
};

/// Of the document of an answer, what the page says before its cards: steps, ranges, breakdowns,
/// provenance, peaks of memory; under the same keys. Null without a document.
[[nodiscard]] nlohmann::json answer_facts(const std::string& document);

/// The recorded graph: its block, columns, works, lanes, steps.
[[nodiscard]] nlohmann::json base_facts(const TaskGraph& graph, const PackedGraph& packed,
                                        Strings& strings);
/// A changed graph: what it has beyond the recorded one.
[[nodiscard]] nlohmann::json variant_facts(const Variant& variant, const ChangedRun& changed,
                                           const TaskGraph& base, const PackedGraph& packed,
                                           Strings& strings);

}  // namespace foretrace::explorer
