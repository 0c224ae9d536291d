// The store of a sweep: one SQLite file in a folder. Rows that are counted are on disk; a process
// that is killed leaves what it had committed, and the next one goes on from there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/space/sweep.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

/// What a store says of its sweep.
struct StoreFacts {
  std::string sweep;   ///< the sweep file's text
  std::string path;    ///< of the sweep file, as it was given
  std::string folder;  ///< what names of files in it are relative to
  std::string inputs;  ///< digest of the files that points are computed from
  std::string version;
};

struct FailureCount {
  std::string reason;
  std::uint64_t points = 0;
};

/// What becomes of a store that cannot be read.
enum class WhenDamaged : std::uint8_t {
  refuse,
  replace  ///< it stays beside the new one as sweep.db.damaged
};

/// SQLite behind a few calls.
class Database;

class Store {
 public:
  /// For writing; nobody else writes meanwhile. Makes the folder if it is not there. Errors: it
  /// cannot be written, another process is at it, it holds something else.
  [[nodiscard]] static Result<Store> open(const std::string& folder,
                                          WhenDamaged damaged = WhenDamaged::refuse);
  /// For reading, also while a sweep is running.
  [[nodiscard]] static Result<Store> read(const std::string& folder);
  Store(Store&& other) noexcept;
  Store& operator=(Store&& other) noexcept;
  ~Store();

  [[nodiscard]] bool is_empty() const;
  [[nodiscard]] Result<StoreFacts> facts() const;
  /// Names of the metrics that rows have, in their order.
  [[nodiscard]] Result<std::vector<std::string>> metrics() const;
  /// Begins anew with these columns and rows, in one transaction: all of it is there or nothing.
  [[nodiscard]] Status reset(const Sweep& sweep, const StoreFacts& facts,
                             std::span<const PointResult> rows);
  /// What is said of the sweep, where its points stay as they are.
  [[nodiscard]] Status update(const StoreFacts& facts);
  /// In one transaction.
  [[nodiscard]] Status add(std::span<const PointResult> rows);
  /// Every row in the order of its number. The sweep is the one that stored_sweep() tells of.
  [[nodiscard]] Status for_each(const Sweep& sweep,
                                const std::function<Status(const PointResult&)>& visit) const;
  /// Numbers of points that are there, ascending.
  [[nodiscard]] Status for_each_number(const std::function<void(std::uint64_t)>& visit) const;
  /// Why points failed and how many did: the most frequent reasons.
  [[nodiscard]] Result<std::vector<FailureCount>> reasons(std::size_t most) const;
  /// Moves what was written into the one file; what a reader sees stays the same.
  [[nodiscard]] Status finish();

 private:
  explicit Store(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

/// What a store was computed from: facts() with the metrics that are there.
[[nodiscard]] Result<Sweep> stored_sweep(const Store& store);

/// The file of the store in its folder.
[[nodiscard]] std::string store_file(const std::string& folder);

}  // namespace foretrace::sweeping
