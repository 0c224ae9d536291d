// papers    E. Wang et al., FLINT: A Platform for Federated Learning Integration, MLSys 2023
//           (device classes, availability); K. Bonawitz et al., Towards Federated Learning at
//           Scale: System Design, MLSys 2019 (rounds with over-selection and a deadline);
//           J. Nguyen et al., Federated Learning with Buffered Asynchronous Aggregation, AISTATS
//           2022 (buffered); Q. Li et al., FedTree, MLSys 2023 (histograms)
// assumes   links and processors of devices are their own; the server's are wide enough
// ignores   accuracy and privacy
#include "apps/extras/federated/rounds.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>
#include <tuple>

#include <fmt/format.h>

#include "sim/core/random.h"
#include "sim/core/whole.h"

namespace foretrace::federated {
namespace {

constexpr std::int64_t most_tries = 1'000'000;
constexpr std::int64_t most_asked = 20'000'000;
constexpr std::int64_t most_checks = 5'000'000'000;  // whether a device is there: seconds
constexpr std::int64_t last_ns = 4'000'000'000'000'000'000;

struct Device {
  std::size_t kind = 0;
  std::int64_t work_ns = 0;
  std::int64_t offset_ns = 0;
  bool is_busy = false;
};

// A device that was asked: until when it works, and whether an update comes of it.
struct Attempt {
  std::int64_t end_ns = 0;
  std::size_t device = 0;
  bool is_whole = false;
  std::int64_t begin_ns = 0;
  std::int64_t round = 0;
  [[nodiscard]] double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
};
struct Later {
  bool operator()(const Attempt& a, const Attempt& b) const {
    return std::tuple(a.end_ns, a.device) > std::tuple(b.end_ns, b.device);
  }
};

class Server {
 public:
  Server(const Federation& federation, const RoundPolicy& policy)
      : federation_(federation), policy_(policy), random_(federation.seed) {
    for (std::size_t k = 0; k < federation.classes.size(); ++k) {
      const DeviceClass& kind = federation.classes[k];
      const double seconds = device_seconds(kind, federation.task);
      for (std::int64_t d = 0; d < kind.devices; ++d) {
        const double factor = std::pow(1 + kind.spread, 2 * draw() - 1);
        const double ns = std::clamp(seconds * factor * 1e9, 1.0, 1e17);
        const double late = draw() * static_cast<double>(kind.until_ns - kind.from_ns);
        devices_.push_back(
            {.kind = k, .work_ns = to_whole(ns), .offset_ns = kind.from_ns + to_whole(late)});
      }
    }
  }

  Result<RoundFigures> run() {
    return policy_.kind == PolicyKind::synchronous ? in_rounds() : one_by_one();
  }

 private:
  double draw() { return unit_interval(random_()); }

  // How much longer a device is there; 0: it is not.
  [[nodiscard]] std::int64_t stays_ns(const Device& device, std::int64_t now_ns) const {
    const DeviceClass& kind = federation_.classes[device.kind];
    if (kind.every_ns <= 0) return INT64_MAX;
    if (now_ns < device.offset_ns) return 0;
    const std::int64_t into_ns = (now_ns - device.offset_ns) % kind.every_ns;
    return std::max<std::int64_t>(0, kind.open_ns - into_ns);
  }

  Attempt ask(std::size_t at, std::int64_t now_ns, std::int64_t round) {
    Device& device = devices_[at];
    device.is_busy = true;
    Attempt attempt{now_ns + device.work_ns, at, true, now_ns, round};
    const double failure = draw();
    const double share = draw();
    if (failure < federation_.task.failure) {
      attempt.is_whole = false;
      attempt.end_ns = now_ns + to_whole(share * static_cast<double>(device.work_ns));
    }
    const std::int64_t stays = stays_ns(device, now_ns);
    if (stays < attempt.end_ns - now_ns) {
      attempt.is_whole = false;
      attempt.end_ns = now_ns + stays;
    }
    ++figures_.asked;
    figures_.sent_bytes += federation_.task.download_bytes;
    return attempt;
  }

  void waste(const Attempt& attempt, std::int64_t& reason) {
    ++reason;
    figures_.wasted_s += attempt.seconds();
  }

  void end_round(std::int64_t begin_ns, std::int64_t end_ns, double bytes) {
    const double round_s = static_cast<double>(end_ns - begin_ns) * 1e-9;
    figures_.round_s.push_back(round_s);
    if (round_s > 0) {
      figures_.peak_bytes_per_s = std::max(figures_.peak_bytes_per_s, bytes / round_s);
    }
  }

  // So many that all of them together take seconds.
  [[nodiscard]] std::int64_t most_looks() const {
    const auto devices = std::max<std::int64_t>(1, static_cast<std::int64_t>(devices_.size()));
    return std::clamp<std::int64_t>(most_checks / devices, 1000, most_tries);
  }
  [[nodiscard]] Error too_few(std::int64_t wanted) const {
    return Error{ErrorCode::bad_config,
                 fmt::format("never found {} of the {} devices online at once ({} checks)", wanted,
                             devices_.size(), looks_)};
  }

  // What takes minutes is refused: a round that asks many devices, many times.
  [[nodiscard]] Status check_effort(std::int64_t round) const {
    if (now_ns_ > last_ns) {
      return Error{
          ErrorCode::bad_config,
          fmt::format("round {}: is later than the latest time that can be represented", round)};
    }
    if (figures_.asked > most_asked || checks_ > most_checks) {
      return Error{
          ErrorCode::bad_config,
          fmt::format("round {} of {}: {} devices were asked and {} checks made for one online, "
                      "expected at most {} and {}",
                      round, federation_.rounds, figures_.asked, checks_, most_asked, most_checks)};
    }
    return ok_status();
  }

  // Waits until so many are there.
  bool find(std::int64_t wanted, std::vector<std::size_t>& there) {
    for (; looks_ < most_looks() && now_ns_ < last_ns; ++looks_) {
      there.clear();
      checks_ += static_cast<std::int64_t>(devices_.size());
      for (std::size_t i = 0; i < devices_.size(); ++i) {
        if (!devices_[i].is_busy && stays_ns(devices_[i], now_ns_) > 0) there.push_back(i);
      }
      if (static_cast<std::int64_t>(there.size()) >= wanted) return true;
      if (static_cast<std::int64_t>(devices_.size()) < wanted) return false;
      now_ns_ += federation_.retry_ns;
    }
    return false;
  }

  Result<RoundFigures> in_rounds() {
    const auto asked = std::max<std::int64_t>(
        policy_.updates,
        to_whole(std::ceil(static_cast<double>(policy_.updates) * policy_.over_selection - 1e-9)));
    std::vector<std::size_t> there;
    for (std::int64_t round = 0; round < federation_.rounds; ++round) {
      const std::int64_t begin_ns = now_ns_;
      FORETRACE_TRY(check_effort(round));
      if (!find(asked, there)) return too_few(asked);
      std::vector<Attempt> attempts;
      for (std::int64_t i = 0; i < asked; ++i) {
        // Any of those that are there, all alike.
        const auto from = static_cast<std::size_t>(i);
        const auto rest = static_cast<double>(there.size() - from);
        const std::size_t to =
            from + std::min(there.size() - from - 1, static_cast<std::size_t>(draw() * rest));
        std::swap(there[from], there[to]);
        attempts.push_back(ask(there[from], now_ns_, round));
      }
      merge_round(attempts);
      for (const Attempt& attempt : attempts) devices_[attempt.device].is_busy = false;
      const double bytes =
          static_cast<double>(asked) * federation_.task.download_bytes + arrived_bytes_;
      now_ns_ += federation_.task.server_ns;
      end_round(begin_ns, now_ns_, bytes);
    }
    return finish();
  }

  // The round is over with its last update that is needed, at its deadline, or with nobody left.
  void merge_round(std::vector<Attempt>& attempts) {
    std::sort(attempts.begin(), attempts.end(),
              [](const Attempt& a, const Attempt& b) { return Later{}(b, a); });
    const std::int64_t deadline_ns =
        policy_.deadline_ns > 0 ? now_ns_ + policy_.deadline_ns : INT64_MAX;
    std::vector<bool> merged(attempts.size(), false);
    std::int64_t updates = 0;
    std::int64_t end_ns = now_ns_;
    for (std::size_t i = 0; i < attempts.size() && updates < policy_.updates; ++i) {
      const Attempt& attempt = attempts[i];
      if (attempt.end_ns > deadline_ns) {
        end_ns = deadline_ns;
        break;
      }
      end_ns = attempt.end_ns;
      merged[i] = attempt.is_whole;
      updates += attempt.is_whole ? 1 : 0;
    }
    const bool is_enough = updates >= policy_.least;
    figures_.given_up += is_enough ? 0 : 1;
    arrived_bytes_ = static_cast<double>(updates) * federation_.task.upload_bytes;
    figures_.received_bytes += arrived_bytes_;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      Attempt& attempt = attempts[i];
      if (merged[i] && is_enough) {
        ++figures_.merged;
        figures_.useful_s += attempt.seconds();
        continue;
      }
      const bool has_left = !attempt.is_whole && attempt.end_ns <= end_ns;
      attempt.end_ns = std::min(attempt.end_ns, end_ns);  // it is told to stop
      waste(attempt, has_left ? figures_.left : figures_.unused);
    }
    now_ns_ = end_ns;
  }

  // A free device that is there, any of them; the number of devices: none is.
  std::size_t any_free() {
    const auto is_free = [&](std::size_t i) {
      return !devices_[i].is_busy && stays_ns(devices_[i], now_ns_) > 0;
    };
    constexpr int quick_tries = 64;
    for (int i = 0; i < quick_tries; ++i) {
      const auto at =
          std::min(devices_.size() - 1,
                   static_cast<std::size_t>(draw() * static_cast<double>(devices_.size())));
      if (is_free(at)) return at;
    }
    const auto begin = static_cast<std::size_t>(draw() * static_cast<double>(devices_.size()));
    checks_ += static_cast<std::int64_t>(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const std::size_t at = (begin + i) % devices_.size();
      if (is_free(at)) return at;
    }
    return devices_.size();
  }

  Result<RoundFigures> one_by_one() {
    std::priority_queue<Attempt, std::vector<Attempt>, Later> at_work;
    std::int64_t round = 0;
    std::int64_t begin_ns = 0;
    std::int64_t buffered = 0;
    double bytes = 0;
    double ages = 0;
    // The server merges one buffer after the other while devices train: models that are out, and
    // when those that are being merged will be.
    std::int64_t models = 0;
    std::int64_t merged_ns = 0;
    std::queue<std::int64_t> merging;
    std::int64_t in_vain = 0;  // ends since the last update that was merged
    while (round < federation_.rounds) {
      FORETRACE_TRY(check_effort(round));
      if (in_vain > most_tries) {
        return Error{ErrorCode::bad_config,
                     fmt::format("round {}: no update arrived, after {} devices", round, in_vain)};
      }
      for (; !merging.empty() && merging.front() <= now_ns_; merging.pop()) ++models;
      while (static_cast<std::int64_t>(at_work.size()) < policy_.at_work) {
        const std::size_t device = any_free();
        if (device == devices_.size()) break;
        at_work.push(ask(device, now_ns_, models));
        bytes += federation_.task.download_bytes;
      }
      const bool is_full = static_cast<std::int64_t>(at_work.size()) >= policy_.at_work;
      const std::int64_t look_ns = is_full ? INT64_MAX : now_ns_ + federation_.retry_ns;
      if (at_work.empty() || at_work.top().end_ns > look_ns) {
        if (++looks_ > most_looks()) return too_few(policy_.at_work);
        now_ns_ = look_ns;
        continue;
      }
      const Attempt attempt = at_work.top();
      at_work.pop();
      now_ns_ = attempt.end_ns;
      for (; !merging.empty() && merging.front() <= now_ns_; merging.pop()) ++models;
      devices_[attempt.device].is_busy = false;
      ++in_vain;
      if (!attempt.is_whole) {
        waste(attempt, figures_.left);
        continue;
      }
      figures_.received_bytes += federation_.task.upload_bytes;
      bytes += federation_.task.upload_bytes;
      const std::int64_t age = models - attempt.round;
      if (policy_.oldest >= 0 && age > policy_.oldest) {
        waste(attempt, figures_.unused);
        continue;
      }
      ++figures_.merged;
      in_vain = 0;
      ages += static_cast<double>(age);
      figures_.useful_s += attempt.seconds();
      if (++buffered < policy_.updates) continue;
      buffered = 0;
      ++round;
      merged_ns = std::max(merged_ns, now_ns_) + federation_.task.server_ns;
      merging.push(merged_ns);
      end_round(begin_ns, merged_ns, bytes);
      begin_ns = merged_ns;
      bytes = 0;
    }
    now_ns_ = merged_ns;
    while (!at_work.empty()) {  // they work for a round that does not come
      Attempt attempt = at_work.top();
      at_work.pop();
      attempt.end_ns = std::min(attempt.end_ns, now_ns_);
      waste(attempt, figures_.unused);
    }
    if (figures_.merged > 0) figures_.age = ages / static_cast<double>(figures_.merged);
    return finish();
  }

  RoundFigures finish() {
    figures_.end_ns = now_ns_;
    return std::move(figures_);
  }

  const Federation& federation_;
  const RoundPolicy& policy_;
  std::mt19937_64 random_;
  std::vector<Device> devices_;
  std::int64_t now_ns_ = 0;
  std::int64_t looks_ = 0;
  std::int64_t checks_ = 0;  // of single devices
  double arrived_bytes_ = 0;
  RoundFigures figures_;
};

}  // namespace

double device_seconds(const DeviceClass& kind, const Task& task) {
  return task.download_bytes / kind.download_bytes_per_s +
         kind.examples * task.passes * task.flops_per_example / kind.flops_per_s +
         task.upload_bytes / kind.upload_bytes_per_s;
}

double histogram_bytes(double nodes, double features, double bins, double number_bytes) {
  return nodes * features * bins * 2 * number_bytes;
}

Result<RoundFigures> run_rounds(const Federation& federation, const RoundPolicy& policy) {
  return Server(federation, policy).run();
}

}  // namespace foretrace::federated
