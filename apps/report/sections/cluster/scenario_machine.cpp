// A scenario on a device that is no GPU: its execution model, its memories, its operators.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "apps/report/pages/cluster/scenario.h"
#include "apps/report/sections/parts.h"
#include "apps/report/text.h"
#include "models/hardware/execution/exec_model.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

// Those that take less are left to the document.
constexpr double least_kernel_share = 0.02;

struct OperatorRow {
  const RankProgram::Block* block = nullptr;
  const Action* action = nullptr;
  std::uint32_t times = 0;
};

std::vector<OperatorRow> operator_rows(const RankProgram& program) {
  std::vector<OperatorRow> rows;
  for (const BlockRun& run : program.order) {
    const RankProgram::Block& block = (*program.blocks)[run.block];
    for (const Action& action : program.actions_of(block.forward)) {
      if (action.type == ActionType::compute) rows.push_back({&block, &action, run.count});
    }
  }
  return rows;
}

std::string_view bound_by(CostSource source) {
  if (source == CostSource::start) return "start-up";
  return source == CostSource::memory ? "memory" : "arithmetic";
}

Table memory_table(const ScenarioAnswer& answer) {
  Table table{
      .name = "memories",
      .columns = {{"memory"}, {"need_bytes", "needs"}, {"has_bytes", "has"}, {"fits", "fits"}}};
  for (const DeviceMemory& memory : answer.memories) {
    table.add({Value::words(memory.name), Value::bytes(to_whole(memory.need)),
               Value::bytes(to_whole(memory.has)), Value::flag(memory.fits())});
  }
  return table;
}

Table operator_table(const ScenarioAnswer& answer) {
  Table table{.name = "operators",
              .columns = {{"block"},
                          {"operator", "operator"},
                          {"times", "times"},
                          {"time_ns", "time"},
                          {"share", "share"},
                          {"bound_by", "bound by"},
                          {"basis", "basis"}}};
  const std::vector<OperatorRow> rows = operator_rows(answer.program);
  double all = 0;
  for (const OperatorRow& row : rows) all += row.times * row.action->ns;
  for (const OperatorRow& row : rows) {
    const double ns = row.times * row.action->ns;
    const double share = all > 0 ? ns / all : 0;
    table.rows.push_back({.cells = {Value::words(row.block->name), Value::words(row.action->name),
                                    Value::count(row.times), Value::time(to_whole(ns)),
                                    Value::share(share), Value::words(bound_by(row.action->source)),
                                    Value::words(to_string(row.action->provenance))},
                          .show = share < least_kernel_share ? Show::details : Show::always});
  }
  return table;
}

/// Tables are of pages: documents have the same as lists.
Value memories_value(const ScenarioAnswer& answer) {
  Value::List list;
  for (const DeviceMemory& memory : answer.memories) {
    list.push_back(Value::object({{"memory", Value::words(memory.name)},
                                  {"need_bytes", Value::bytes(to_whole(memory.need))},
                                  {"has_bytes", Value::bytes(to_whole(memory.has))},
                                  {"fits", Value::flag(memory.fits())}}));
  }
  return Value::list(std::move(list));
}

Value operators_value(const Table& table) {
  Value::List list;
  for (const Row& row : table.rows) {
    Value::Object object;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      object.push_back({table.columns[i].key, row.cells[i]});
    }
    list.push_back(Value::object(std::move(object)));
  }
  return Value::list(std::move(list));
}

}  // namespace

Sections scenario_machine(const ScenarioPart& part) {
  const auto& model = part.scenario.cluster->accelerator.exec_model;
  if (model == nullptr) return {};
  Section machine{.key = "machine", .path = "scenario/machine", .title = "memories"};
  machine.datum("exec_model", Value::words(model->text()));
  machine.datum("memories", memories_value(part.answer));
  machine.tables.push_back(memory_table(part.answer));
  Section operators{.key = "operators",
                    .path = "scenario/machine",
                    .title = "operators of one pass, forward",
                    .tables = {operator_table(part.answer)},
                    .scale_ns = part.answer.step_ns};
  operators.datum("operators", operators_value(operators.tables.front()));
  return {std::move(machine), std::move(operators)};
}

}  // namespace foretrace::report::sections
