// Rounds of federated learning on devices that come and go: a server sends a model, devices train
// and send updates back, in rounds or one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::federated {

/// Devices that are alike but for their speed.
struct DeviceClass {
  std::string name;
  std::int64_t devices = 0;
  double flops_per_s = 1;
  double download_bytes_per_s = 1;
  double upload_bytes_per_s = 1;
  double examples = 1;  ///< on a device
  /// Times are those above times (1 + spread)^u, u evenly from -1 to 1, drawn for each device.
  double spread = 0;
  /// A device is there for `open_ns` of every `every_ns`; 0: always.
  std::int64_t every_ns = 0;
  std::int64_t open_ns = 0;
  /// The first time begins so late, evenly drawn for each device from `from_ns` to `until_ns`.
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;
};

struct Task {
  double download_bytes = 0;
  double upload_bytes = 0;
  double flops_per_example = 0;
  double passes = 1;   ///< over the examples of a device
  double failure = 0;  ///< probability that a device leaves on the way, at any time of it
  /// To merge the updates of a round; buffered: meanwhile devices train.
  std::int64_t server_ns = 0;
};

enum class PolicyKind : std::uint8_t { synchronous, buffered };

struct RoundPolicy {
  PolicyKind kind = PolicyKind::synchronous;
  std::int64_t updates = 1;  ///< that a round merges
  /// synchronous: devices that are asked / updates that are needed
  double over_selection = 1;
  /// synchronous: then the round ends with what there is; 0: it waits
  std::int64_t deadline_ns = 0;
  std::int64_t least = 1;    ///< synchronous: a round with fewer updates is given up
  std::int64_t at_work = 1;  ///< buffered: devices that train at once
  /// buffered: an update so many rounds old is thrown away; below 0: none is
  std::int64_t oldest = -1;
};

struct Federation {
  std::vector<DeviceClass> classes;
  Task task;
  std::int64_t rounds = 100;
  std::int64_t retry_ns = 60'000'000'000;  ///< the server looks again for devices
  std::uint64_t seed = 0;
};

struct RoundFigures {
  std::vector<double> round_s{};  ///< by round, with the time to find devices
  std::int64_t end_ns = 0;
  std::int64_t given_up = 0;  ///< rounds with too few updates
  std::int64_t asked = 0;     ///< devices that began
  std::int64_t merged = 0;    ///< updates
  std::int64_t left = 0;      ///< devices that failed, or whose time was over
  std::int64_t unused = 0;    ///< devices whose update came too late, or was too old
  double useful_s = 0;        ///< times devices worked for updates that were merged
  double wasted_s = 0;        ///< for the others
  double sent_bytes = 0;      ///< by the server
  double received_bytes = 0;
  double peak_bytes_per_s = 0;  ///< both ways, of the round with the most
  double age = 0;  ///< buffered: models that came out while merged updates were made, mean
};

/// Errors: the devices are never enough.
[[nodiscard]] Result<RoundFigures> run_rounds(const Federation& federation,
                                              const RoundPolicy& policy);

/// Seconds that a device of this class takes at a factor of 1.
[[nodiscard]] double device_seconds(const DeviceClass& kind, const Task& task);

/// Bytes of the histograms of gradients that a party sends for a level of boosted trees: two
/// numbers for each bin of each feature at each node.
[[nodiscard]] double histogram_bytes(double nodes, double features, double bins,
                                     double number_bytes);

}  // namespace foretrace::federated
