// How fast a job runs on what it is given: the interface, and a table of measured rates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/scheduling/model/ids.h"
#include "sim/core/ids.h"

namespace foretrace::scheduling {

struct Cluster;
struct Job;

/// Where a job runs, as far as its speed depends on it.
struct Where {
  KindId kind{};
  std::int32_t gpus = 0;
  /// Accelerators on each node in placement order: "422"; empty: not known, as good as it gets.
  std::string placement{};
};

/// Steps per second. Const objects may be asked from several threads.
class Throughput {
 public:
  Throughput() = default;
  Throughput(const Throughput&) = delete;
  Throughput& operator=(const Throughput&) = delete;
  virtual ~Throughput() = default;

  /// 0: it cannot run there, or nobody knows how fast.
  [[nodiscard]] virtual double rate(TypeId type, const Where& where) const = 0;
  /// Rates of two jobs that share accelerators; none: not known. {0, 0}: they do not fit.
  [[nodiscard]] virtual std::optional<std::pair<double, double>> together(
      TypeId first, TypeId second, const Where& where) const = 0;
};

/// Measured rates by type, kind and number, by placement where that was measured too. A placement
/// that was not is as fast as those on the nearest number of nodes.
class ThroughputTable final : public Throughput {
 public:
  void set(TypeId type, const Where& where, double steps_per_s);
  void set_together(TypeId first, TypeId second, const Where& where,
                    std::pair<double, double> steps_per_s);
  /// A job that is given as a time on what it asks for: one step is a second.
  void set_clock(TypeId type) { entry(type).is_clock = true; }

  [[nodiscard]] double rate(TypeId type, const Where& where) const override;
  [[nodiscard]] std::optional<std::pair<double, double>> together(
      TypeId first, TypeId second, const Where& where) const override;

 private:
  struct Rate {
    KindId kind{};
    std::int32_t gpus = 0;
    double steps_per_s = 0;
    std::string placement;  ///< empty: as good as it gets
  };
  struct Entry {
    bool is_clock = false;
    std::vector<Rate> rates;
  };
  using PairKey = std::tuple<TypeId, TypeId, KindId, std::int32_t>;

  Entry& entry(TypeId type);

  Column<TypeId, Entry> entries_;
  std::map<PairKey, std::pair<double, double>> pairs_;
};

/// Run time of a job on what it asks for, on its fastest kind; 0: not known.
[[nodiscard]] double seconds_alone(const Cluster& cluster, const Throughput& throughput,
                                   const Job& job);

/// "422": accelerators per node, most first, whichever nodes they are; letters beyond 9.
[[nodiscard]] std::string placement_name(std::vector<std::int32_t> per_node);

}  // namespace foretrace::scheduling
