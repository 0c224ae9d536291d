#include "apps/extras/storage/storage.h"

#include <algorithm>
#include <array>
#include <random>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "models/hardware/catalogue/cells.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/config.h"
#include "sim/core/parallel.h"
#include "sim/core/params.h"
#include "sim/core/random.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr std::array<std::string_view, 2> order_words = {"shuffled", "sequential"};
constexpr std::array<std::string_view, 3> admission_words = {"always", "chance", "oracle"};
constexpr double most_reads = 5e6;
constexpr double most_reads_of_all = 1e8;  // through all caches: seconds
constexpr double most_stored_bytes = 1e18;
constexpr double longest_read_ns = 1e11;

std::uint64_t seed_in(ConfigFields& fields) {
  return static_cast<std::uint64_t>(
      optional_within(fields, "seed", ParamType::integer, largest_seed, 0));
}

class StorageReader {
 public:
  StorageReader(const ConfigValue& root, const std::string& where)
      : fields_(root, where), where_(where) {}

  Result<StoredInput> read() {
    input_.path = where_;
    read_data();
    read_tier("cache", input_.pipeline.cache);
    read_tier("remote", input_.pipeline.remote);
    read_caches();
    read_loader();
    input_.pipeline.step_ns =
        to_whole(read_within(fields_, "step", ParamType::time, longest_read_ns));
    FORETRACE_TRY(fields_.finish());
    return std::move(input_);
  }

 private:
  void read_data() {
    const ConfigValue* object = fields_.object("data");
    if (object == nullptr) return;
    ConfigFields data(*object, where_, "/data");
    if (data.has("file") || data.has("rows")) {
      read_table(data);
    } else {
      draw_order(data);
    }
    fields_.take(data.finish());
    storage::find_next_uses(input_.order.accesses);
  }

  // A table of reads in their order: item, and bytes where items differ.
  void read_table(ConfigFields& data) {
    const double usual = optional_within(data, "item_bytes", ParamType::bytes, 1e12, 0);
    const auto cells = scheduling::table_of(data, stored_read_columns, input_.files);
    if (!cells.ok()) return data.take(cells.error());
    if (!cells->has("item")) {
      data.take(Error{ErrorCode::bad_format,
                      fmt::format("{}: no column 'item'", cells->place_of_columns())});
    }
    if (!cells->has("bytes") && !data.has("item_bytes")) {
      data.mistake("item_bytes", "missing, expected it or a column 'bytes'");
    }
    if (static_cast<double>(cells->rows.size()) > most_reads) {
      return data.take(
          Error{ErrorCode::bad_config, fmt::format("{}: got {} reads, expected at most {:g}",
                                                   cells->where, cells->rows.size(), most_reads)});
    }
    std::unordered_map<std::string, std::pair<std::uint32_t, double>> items;
    for (std::size_t row = 0; row < cells->rows.size(); ++row) {
      scheduling::CellFields cell(*cells, row);
      if (!cell.given("item")) cell.mistake("item", "missing, expected a name");
      const double bytes = cell.number("bytes", usual, 0, 1e12);
      const auto number = static_cast<std::uint32_t>(items.size());
      const auto [found, is_new] = items.try_emplace(cell.text("item"), number, bytes);
      if (is_new) input_.data_bytes += bytes;
      if (found->second.second != bytes) cell.mistake("bytes", "an item of another size before");
      data.take(cell.finish());
      input_.order.accesses.push_back({.item = found->second.first, .bytes = bytes});
    }
    if (input_.order.accesses.empty()) data.mistake("file", "names no reads");
    input_.order.epoch_ends.push_back(input_.order.accesses.size());
  }

  void draw_order(ConfigFields& data) {
    const std::uint32_t items = read_count(data, "items", most_reads);
    const double bytes = read_positive(data, "item_bytes", ParamType::bytes, 1e12);
    const std::uint32_t epochs = optional_count(data, "epochs", most_reads, 2);
    const bool is_shuffled = optional_word(data, "order", order_words, 0) == 0;
    std::mt19937_64 random(is_shuffled ? seed_in(data) : 0);
    if (static_cast<double>(items) * epochs > most_reads) {
      return data.mistake("items", fmt::format("got {} in {} epochs, expected at most {:g} reads",
                                               items, epochs, most_reads));
    }
    input_.data_bytes = bytes * items;
    std::vector<std::uint32_t> order(items);
    for (std::uint32_t i = 0; i < items; ++i) order[i] = i;
    for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
      for (std::size_t i = items; is_shuffled && i > 1; --i) {
        const auto other =
            static_cast<std::size_t>(unit_interval(random()) * static_cast<double>(i));
        std::swap(order[i - 1], order[std::min(other, i - 1)]);
      }
      for (const std::uint32_t item : order) {
        input_.order.accesses.push_back({.item = item, .bytes = bytes});
      }
      input_.order.epoch_ends.push_back(input_.order.accesses.size());
    }
  }

  void read_tier(std::string_view key, storage::Tier& tier) {
    const ConfigValue* object = fields_.object(key);
    if (object == nullptr) return;
    ConfigFields inner(*object, where_, fmt::format("/{}", key));
    tier.latency_ns =
        to_whole(optional_within(inner, "latency", ParamType::time, longest_read_ns, 0));
    tier.bytes_per_s = read_positive(inner, "bandwidth", ParamType::bandwidth, 1e16);
    // So that the times of all reads together can be counted.
    double largest = 0;
    for (const storage::Access& access : input_.order.accesses) {
      largest = std::max(largest, access.bytes);
    }
    const double ns = largest / tier.bytes_per_s * 1e9;
    if (!(ns <= longest_read_ns)) {
      inner.mistake("bandwidth", fmt::format("got {:.3g} s for the largest item, expected at most "
                                             "{:g} s",
                                             ns * 1e-9, longest_read_ns * 1e-9));
    }
    fields_.take(inner.finish());
  }

  void read_admission(ConfigFields& cache, const std::string& pointer,
                      storage::CacheOptions& options) {
    const ConfigValue* object = cache.optional_object("admission");
    if (object == nullptr) return;
    ConfigFields inner(*object, where_, pointer + "/admission");
    options.admission = static_cast<storage::Admission>(read_word(inner, "rule", admission_words));
    if (options.admission == storage::Admission::chance) {
      options.probability = read_within(inner, "probability", ParamType::number, 1);
    } else if (options.admission == storage::Admission::oracle) {
      options.probability = optional_within(inner, "accuracy", ParamType::number, 1, 1);
    }
    if (options.admission != storage::Admission::always) options.seed = seed_in(inner);
    cache.take(inner.finish());
  }

  void read_caches() {
    const ConfigValue* list = fields_.objects("caches");
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const std::string pointer = fmt::format("/caches/{}", i);
      ConfigFields one(list->items[i], where_, pointer);
      CacheChoice choice;
      one.text("name", choice.name);
      choice.options.bytes = read_within(one, "size", ParamType::bytes, most_stored_bytes);
      read_admission(one, pointer, choice.options);
      fields_.take(one.finish());
      input_.caches.push_back(std::move(choice));
    }
    constexpr std::size_t most_caches = 100;
    if (input_.caches.empty() || input_.caches.size() > most_caches) {
      fields_.mistake("caches",
                      fmt::format("got {}, expected 1 to {}", input_.caches.size(), most_caches));
    }
    const std::size_t reads = input_.order.accesses.size();
    if (static_cast<double>(reads) * static_cast<double>(input_.caches.size()) >
        most_reads_of_all) {
      fields_.mistake("caches", fmt::format("got {} for {} reads each, expected at most {:g} reads "
                                            "in all",
                                            input_.caches.size(), reads, most_reads_of_all));
    }
  }

  void read_loader() {
    const ConfigValue* object = fields_.object("loader");
    if (object == nullptr) return;
    ConfigFields inner(*object, where_, "/loader");
    input_.pipeline.batch = read_count(inner, "batch", most_reads);
    input_.pipeline.workers = optional_count(inner, "workers", 1024, 1);
    input_.pipeline.prefetch = optional_count(inner, "prefetch", 1024, 2);
    input_.pipeline.decode_ns =
        to_whole(optional_within(inner, "decode", ParamType::time, longest_read_ns, 0));
    fields_.take(inner.finish());
  }

  ConfigFields fields_;
  std::string where_;
  StoredInput input_;
};

}  // namespace

Result<StoredInput> parse_stored_input(std::string_view text, const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, storage_schema));
  return StorageReader(root, where).read();
}

Result<StoredInput> read_stored_input(const std::string& path) {
  FORETRACE_TRY(auto root, read_config(path, storage_schema));
  return StorageReader(root, path).read();
}

std::vector<std::vector<storage::EpochFigures>> run_stored_input(const StoredInput& input) {
  std::vector<std::vector<storage::EpochFigures>> runs(input.caches.size());
  for_each_index(runs.size(), [&](std::size_t i) {
    storage::InputOptions options = input.pipeline;
    options.kept = input.caches[i].options;
    runs[i] = storage::run_input(input.order, options);
  });
  return runs;
}

}  // namespace foretrace
