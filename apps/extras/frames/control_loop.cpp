// paper     Y. Zhao et al., ApproxCaliper: A Programmable Framework for Application-aware Neural
//           Network Optimization, MLSys 2023 (pruned networks in control loops)
// assumes   a layer's time goes with its operations; devices do not slow each other down
// ignores   what an error of the network does to the application
#include "apps/extras/frames/control_loop.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <random>
#include <tuple>

#include "apps/extras/frames/load_rules.h"
#include "sim/core/random.h"
#include "sim/core/whole.h"

namespace foretrace::streams {
namespace {

constexpr std::int64_t no_frame = -1;

// A frame at a stage, or work of a guest.
struct Piece {
  std::int64_t frame = no_frame;
  std::size_t at = 0;  // stage, or guest
};

class Loop {
 public:
  explicit Loop(const ControlLoop& loop)
      : loop_(loop),
        waiting_(loop.devices),
        busy_(loop.devices, false),
        running_(loop.devices),
        guest_waits_(loop.guests.size(), false),
        seen_ns_(static_cast<std::size_t>(loop.frames)) {
    figures_.busy_ns.assign(loop.devices, 0);
    figures_.guest_ns.assign(loop.devices, 0);
  }

  LoopFigures run() {
    std::mt19937_64 random(loop_.seed);
    for (std::int64_t f = 0; f < loop_.frames; ++f) {
      const double late =
          loop_.jitter_ns > 0 ? unit_interval(random()) * static_cast<double>(loop_.jitter_ns) : 0;
      seen_ns_[static_cast<std::size_t>(f)] = f * loop_.period_ns + to_whole(late);
      push({seen_ns_[static_cast<std::size_t>(f)], Kind::arrival, {f, 0}, 0});
    }
    left_ = loop_.frames;
    for (std::size_t g = 0; g < loop_.guests.size(); ++g)
      push({0, Kind::arrival, {no_frame, g}, 0});
    while (left_ > 0 && !events_.empty()) step();
    return finish();
  }

 private:
  enum class Kind : std::uint8_t { end, arrival };
  struct Event {
    std::int64_t time_ns = 0;
    Kind kind = Kind::end;
    Piece piece{};
    std::size_t device = 0;
    std::uint64_t number = 0;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return std::tuple(a.time_ns, a.kind, a.number) > std::tuple(b.time_ns, b.kind, b.number);
    }
  };

  void push(Event event) {
    event.number = pushed_++;
    events_.push(event);
  }

  void step() {
    const Event event = events_.top();
    events_.pop();
    now_ns_ = event.time_ns;
    if (event.kind == Kind::end) return end(event.device);
    const Piece piece = event.piece;
    if (piece.frame != no_frame) return join(loop_.stages[piece.at].device, piece);
    const LoopGuest& guest = loop_.guests[piece.at];
    push({now_ns_ + guest.period_ns, Kind::arrival, piece, 0});
    // What is not done by its next turn is left out, so that a device that is full stays so.
    if (guest_waits_[piece.at]) return;
    guest_waits_[piece.at] = true;
    join(guest.device, piece);
  }

  void join(std::size_t device, const Piece& piece) {
    std::deque<Piece>& queue = waiting_[device];
    if (piece.frame != no_frame && loop_.late == LateFrames::skip) {
      const auto older = std::find_if(queue.begin(), queue.end(), [&](const Piece& other) {
        return other.frame != no_frame && other.at == piece.at;
      });
      if (older != queue.end()) {
        queue.erase(older);
        ++figures_.dropped;
        --left_;
      }
    }
    queue.push_back(piece);
    serve(device);
  }

  void serve(std::size_t device) {
    if (busy_[device] || waiting_[device].empty()) return;
    const Piece piece = waiting_[device].front();
    waiting_[device].pop_front();
    const bool is_guest = piece.frame == no_frame;
    if (is_guest) guest_waits_[piece.at] = false;
    const std::int64_t time_ns =
        is_guest ? loop_.guests[piece.at].time_ns : loop_.stages[piece.at].time_ns;
    (is_guest ? figures_.guest_ns : figures_.busy_ns)[device] += time_ns;
    busy_[device] = true;
    running_[device] = piece;
    push({now_ns_ + time_ns, Kind::end, piece, device});
  }

  void end(std::size_t device) {
    const Piece piece = running_[device];
    busy_[device] = false;
    if (piece.frame != no_frame) {
      if (piece.at + 1 < loop_.stages.size()) {
        // Arrives now, behind what ends now.
        push({now_ns_, Kind::arrival, {piece.frame, piece.at + 1}, 0});
      } else {
        done(piece.frame);
      }
    }
    serve(device);
  }

  void done(std::int64_t frame) {
    const std::int64_t latency_ns = now_ns_ - seen_ns_[static_cast<std::size_t>(frame)];
    latencies_ns_.push_back(latency_ns);
    if (latency_ns > loop_.deadline_ns) ++figures_.late;
    --left_;
  }

  LoopFigures finish() {
    figures_.frames = loop_.frames;
    figures_.span_ns = now_ns_;
    if (!latencies_ns_.empty()) {
      double sum = 0;
      for (const std::int64_t ns : latencies_ns_) sum += static_cast<double>(ns);
      figures_.mean_ns = sum / static_cast<double>(latencies_ns_.size());
      figures_.longest_ns = *std::max_element(latencies_ns_.begin(), latencies_ns_.end());
    }
    figures_.p99_ns = nearest_rank(std::move(latencies_ns_), 0.99);
    // What still runs at the end counts as far as it came.
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind != Kind::end) continue;
      const bool is_guest = event.piece.frame == no_frame;
      (is_guest ? figures_.guest_ns : figures_.busy_ns)[event.device] -= event.time_ns - now_ns_;
    }
    return std::move(figures_);
  }

  const ControlLoop& loop_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::vector<std::deque<Piece>> waiting_;
  std::vector<bool> busy_;
  std::vector<Piece> running_;
  std::vector<bool> guest_waits_;
  std::vector<std::int64_t> seen_ns_;
  std::vector<std::int64_t> latencies_ns_;
  std::int64_t now_ns_ = 0;
  std::int64_t left_ = 0;
  std::uint64_t pushed_ = 0;
  LoopFigures figures_;
};

}  // namespace

LoopFigures run_loop(const ControlLoop& loop) { return Loop(loop).run(); }

LoopEffort effort_of(const ControlLoop& loop) {
  std::vector<double> guests_ns(loop.devices, 0);
  for (const LoopGuest& guest : loop.guests) {
    guests_ns[guest.device] += static_cast<double>(guest.time_ns);
  }
  // A frame waits for each guest of a device once per stage: for what runs, or for what came first.
  auto frame_ns = static_cast<double>(loop.period_ns);
  for (const LoopStage& stage : loop.stages) {
    frame_ns += static_cast<double>(stage.time_ns) + 2 * guests_ns[stage.device];
  }
  const auto frames = static_cast<double>(loop.frames);
  LoopEffort effort;
  effort.span_ns = frames * frame_ns + static_cast<double>(loop.jitter_ns);
  effort.events = 2 * frames * static_cast<double>(loop.stages.size());
  for (const LoopGuest& guest : loop.guests) {
    effort.events +=
        2 * effort.span_ns / static_cast<double>(std::max<std::int64_t>(guest.period_ns, 1));
  }
  return effort;
}

std::int64_t pruned_time_ns(const std::vector<PrunedLayer>& layers,
                            const std::vector<double>& kept) {
  double sum = 0;
  double in = 1;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double out = i < kept.size() ? kept[i] : 1;
    sum += static_cast<double>(layers[i].time_ns) * in * out;
    sum += static_cast<double>(layers[i].fixed_ns);
    in = out;
  }
  return to_whole(sum);
}

}  // namespace foretrace::streams
