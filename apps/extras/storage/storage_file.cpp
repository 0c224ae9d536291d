// foretrace.storage/1: a training job that reads through caches of several sizes and rules.
#include <vector>

#include <fmt/format.h>

#include "apps/extras/file_kinds.h"
#include "apps/extras/storage/storage.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::storage_parts {
namespace {

storage::EpochFigures sum_of(const std::vector<storage::EpochFigures>& epochs, std::size_t from) {
  storage::EpochFigures sum;
  for (std::size_t i = from; i < epochs.size(); ++i) {
    sum.reads += epochs[i].reads;
    sum.hits += epochs[i].hits;
    sum.remote_bytes += epochs[i].remote_bytes;
    sum.steps += epochs[i].steps;
    sum.stall_ns += epochs[i].stall_ns;
    sum.time_ns += epochs[i].time_ns;
  }
  return sum;
}

double part(std::int64_t of, std::int64_t all) {
  return all > 0 ? static_cast<double>(of) / static_cast<double>(all) : 0;
}

Value step_value(const storage::EpochFigures& figures) {
  return Value::time(figures.steps > 0 ? figures.time_ns / figures.steps : 0);
}

Value bytes_value(double bytes) { return Value::bytes(to_whole(bytes)); }

Value epochs_of(const std::vector<storage::EpochFigures>& epochs) {
  Value::List list;
  for (const storage::EpochFigures& epoch : epochs) {
    list.push_back(Value::object({{"reads", Value::plain(epoch.reads)},
                                  {"hits", Value::plain(epoch.hits)},
                                  {"remote_bytes", bytes_value(epoch.remote_bytes)},
                                  {"steps", Value::plain(epoch.steps)},
                                  {"stall_ns", Value::time(epoch.stall_ns)},
                                  {"time_ns", Value::time(epoch.time_ns)}}));
  }
  return Value::list(std::move(list));
}

Section caches_of(const StoredInput& input,
                  const std::vector<std::vector<storage::EpochFigures>>& runs) {
  Section section{.key = "caches"};
  section.datum("path", Value::words(input.path));
  Table table{.key = "caches",
              .name = "caches",
              .title = "cache",
              .columns = {{"name"},
                          {"size_bytes", "size"},
                          {.key = "first_hits", .title = "hits at first", .show = Show::details},
                          {"later_hits", "hits later"},
                          {"remote_bytes", "from remote"},
                          {"step_ns", "step"},
                          {"stall_share", "waits"},
                          {"time_ns", "all epochs"},
                          {.key = "epochs", .show = Show::never}}};
  std::size_t best = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& epochs = runs[i];
    const storage::EpochFigures all = sum_of(epochs, 0);
    const storage::EpochFigures later = sum_of(epochs, 1);
    if (all.time_ns < sum_of(runs[best], 0).time_ns) best = i;
    table.add({Value::words(input.caches[i].name), bytes_value(input.caches[i].options.bytes),
               Value::share(part(epochs.front().hits, epochs.front().reads)),
               epochs.size() > 1 ? Value::share(part(later.hits, later.reads)) : Value::none(),
               bytes_value(all.remote_bytes), step_value(all),
               Value::share(part(all.stall_ns, all.time_ns)), Value::time(all.time_ns),
               epochs_of(epochs)});
  }
  const storage::EpochFigures all = sum_of(runs[best], 0);
  section.headline = fmt::format(
      "{} of {} in {}: a step takes {} with {}, {} of it waits for input",
      plural(static_cast<std::uint64_t>(all.reads), "read"), bytes_text(to_whole(input.data_bytes)),
      plural(runs[best].size(), "epoch"), shown_text(step_value(all)), input.caches[best].name,
      percent_text(part(all.stall_ns, all.time_ns)));
  section.tables.push_back(std::move(table));
  section.note(
      fmt::format("hits later: from the second epoch on; waits: share of the time in which steps "
                  "wait for their batch; a step alone takes {}; {} make batches of {} ahead of it",
                  shown_text(Value::time(input.pipeline.step_ns)),
                  plural(input.pipeline.workers, "worker"), input.pipeline.batch));
  return section;
}

Result<Page> page(const Catalogue& /*catalogue*/, const std::string& path) {
  FORETRACE_TRY(const auto input, read_stored_input(path));
  return Page{.schema = "foretrace.storage_result/1",
              .document_keys = {"path", "caches"},
              .sections = {caches_of(input, run_stored_input(input))},
              .main_table = "caches"};
}

}  // namespace

extern constexpr FileKind info = {.schema = storage_schema,
                                  .holds = "input that a training job reads through a cache",
                                  .command = "simulate",
                                  .page = page};

}  // namespace foretrace::report::storage_parts
