#include "apps/extras/storage/input_pipeline.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "sim/core/whole.h"

namespace foretrace::storage {
namespace {

struct Batch {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t epoch = 0;
  std::int64_t ready_ns = -1;
  std::int64_t start_ns = 0;  // of its step
};

std::vector<Batch> batches_of(const InputOrder& order, std::size_t size) {
  std::vector<Batch> batches;
  std::size_t begin = 0;
  for (std::size_t epoch = 0; epoch < order.epoch_ends.size(); ++epoch) {
    const std::size_t end = order.epoch_ends[epoch];
    for (; begin < end; begin += std::min(size, end - begin)) {
      batches.push_back({begin, std::min(end, begin + size), epoch});
    }
  }
  return batches;
}

class Pipeline {
 public:
  Pipeline(const InputOrder& order, const InputOptions& options)
      : order_(order),
        options_(options),
        cache_(options.kept),
        batches_(batches_of(order, std::max<std::size_t>(1, options.batch))),
        figures_(order.epoch_ends.size()),
        ahead_(std::max<std::size_t>(1, options.workers) *
               std::max<std::size_t>(1, options.prefetch)) {}

  std::vector<EpochFigures> run() {
    const std::size_t workers = std::max<std::size_t>(1, options_.workers);
    for (std::size_t w = 0; w < workers && w < batches_.size(); ++w) {
      turns_.push({0, w, batches_[w].begin});
    }
    while (!turns_.empty()) {
      const Turn turn = turns_.top();
      turns_.pop();
      read(turn);
    }
    return std::move(figures_);
  }

 private:
  // A worker that reads its next item; the batch tells the worker.
  struct Turn {
    std::int64_t time_ns = 0;
    std::size_t batch = 0;
    std::size_t item = 0;
  };
  struct Later {
    bool operator()(const Turn& a, const Turn& b) const {
      return std::tuple(a.time_ns, a.batch) > std::tuple(b.time_ns, b.batch);
    }
  };

  void read(const Turn& turn) {
    const Access& access = order_.accesses[turn.item];
    EpochFigures& figures = figures_[batches_[turn.batch].epoch];
    const bool hit = cache_.read(access);
    ++figures.reads;
    figures.hits += hit ? 1 : 0;
    if (!hit) figures.remote_bytes += access.bytes;
    const Tier& tier = hit ? options_.cache : options_.remote;
    std::int64_t& free_ns = hit ? cache_free_ns_ : remote_free_ns_;
    const std::int64_t begin_ns = std::max(free_ns, turn.time_ns + tier.latency_ns);
    free_ns = begin_ns + to_whole(access.bytes / tier.bytes_per_s * 1e9);
    const std::int64_t done_ns = free_ns + options_.decode_ns;
    if (turn.item + 1 < batches_[turn.batch].end) {
      turns_.push({done_ns, turn.batch, turn.item + 1});
    } else {
      finish(turn.batch, done_ns);
    }
  }

  void finish(std::size_t batch, std::int64_t time_ns) {
    batches_[batch].ready_ns = time_ns;
    const std::size_t next = batch + std::max<std::size_t>(1, options_.workers);
    if (next < batches_.size()) {
      if (next < ahead_ + started_) {
        begin(next, time_ns);
      } else {
        blocked_.push_back(next);
      }
    }
    start_steps();
  }

  // Step `i` starts when the last one is over and its batch is there.
  void start_steps() {
    while (started_ < batches_.size() && batches_[started_].ready_ns >= 0) {
      Batch& batch = batches_[started_];
      EpochFigures& figures = figures_[batch.epoch];
      const std::int64_t start_ns = std::max(step_end_ns_, batch.ready_ns);
      batch.start_ns = start_ns;
      figures.stall_ns += start_ns - step_end_ns_;
      figures.time_ns += start_ns + options_.step_ns - step_end_ns_;
      ++figures.steps;
      step_end_ns_ = start_ns + options_.step_ns;
      ++started_;
      // The place in the queue that it leaves is for the batch so far ahead.
      const std::size_t allowed = started_ - 1 + ahead_;
      const auto waits = std::find(blocked_.begin(), blocked_.end(), allowed);
      if (waits == blocked_.end()) continue;
      blocked_.erase(waits);
      const std::size_t before = allowed - std::max<std::size_t>(1, options_.workers);
      begin(allowed, batches_[before].ready_ns);
    }
  }

  // When its worker is free and its place in the queue is.
  void begin(std::size_t batch, std::int64_t free_ns) {
    const std::int64_t place_ns = batch < ahead_ ? 0 : batches_[batch - ahead_].start_ns;
    turns_.push({std::max(free_ns, place_ns), batch, batches_[batch].begin});
  }

  const InputOrder& order_;
  const InputOptions& options_;
  Cache cache_;
  std::vector<Batch> batches_;
  std::vector<EpochFigures> figures_;
  std::size_t ahead_;
  std::priority_queue<Turn, std::vector<Turn>, Later> turns_;
  std::vector<std::size_t> blocked_;  // batches whose worker waits for room in the queue
  std::size_t started_ = 0;           // steps
  std::int64_t step_end_ns_ = 0;
  std::int64_t cache_free_ns_ = 0;
  std::int64_t remote_free_ns_ = 0;
};

}  // namespace

std::vector<EpochFigures> run_input(const InputOrder& order, const InputOptions& options) {
  return Pipeline(order, options).run();
}

}  // namespace foretrace::storage
