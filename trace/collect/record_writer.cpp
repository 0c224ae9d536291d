#include "trace/collect/record_writer.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "trace/collect/record_fields.h"
#include "trace/ftr/container.h"
#include "trace/ftr/rows.h"
#include "trace/ftr/texts.h"

namespace foretrace::trace::collector {
namespace {

// The fastest: names of kernels repeat, so that little text is written.
constexpr int text_level = 1;

/// Records of one kind on their way to the file.
class Batch {
 public:
  virtual ~Batch() = default;
  [[nodiscard]] virtual std::string payload() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual RecordKind kind() const = 0;
};

template <typename Record>
class BatchOf final : public Batch {
 public:
  explicit BatchOf(std::size_t capacity) { records.reserve(capacity); }
  [[nodiscard]] std::string payload() const override {
    return ftr::put_rows(std::span<const Record>(records), RecordTraits<Record>::fields, 0);
  }
  [[nodiscard]] std::size_t size() const override { return records.size(); }
  [[nodiscard]] RecordKind kind() const override { return RecordTraits<Record>::kind; }

  std::vector<Record> records;
};

template <typename... Records>
struct KindList {
  using OpenBatches = std::tuple<std::unique_ptr<BatchOf<Records>>...>;
  static constexpr std::size_t bytes_of_all = (sizeof(Records) + ...);
  static constexpr std::size_t largest = std::max({sizeof(Records)...});
};
using Kinds =
    KindList<ApiRecord, KernelRecord, CopyRecord, SetRecord, SynchronizationRecord, EventRecord,
             GraphRecord, StreamRecord, ContextRecord, MemoryRecord, RangeRecord, ExternalRecord,
             OverheadRecord, DeviceRecord, ClockRecord, ThreadRecord, DropRecord>;

/// Signals belong to the program's own threads: one that starts meanwhile takes none.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

}  // namespace

struct RecordWriter::State {
  State(RecordSink to, WriterLimits with) : sink(std::move(to)), limits(with) {}

  RecordSink sink;
  const WriterLimits limits;

  mutable std::mutex mutex;
  std::condition_variable wake;
  Kinds::OpenBatches open;
  std::deque<std::unique_ptr<Batch>> waiting;
  std::unordered_map<std::string, TextNumber, TextHash, std::equal_to<>> texts;
  std::vector<std::string> new_texts;
  std::size_t text_bytes = 0;
  std::array<std::uint64_t, record_kinds> drops{};
  std::uint64_t lost_texts = 0;
  std::uint64_t records_written = 0;
  bool stop = false;
  bool broken = false;

  // Of the writer's thread.
  std::uint32_t ordinal = 0;
  TextNumber next_text = 1;
  std::thread thread;

  void drop(RecordKind kind, std::size_t count) { drops[static_cast<std::size_t>(kind)] += count; }

  bool put(ftr::ChunkKind kind, std::string_view payload) {
    const bool done = sink(ftr::chunk(kind, ordinal++, payload));
    if (!done) {
      const std::lock_guard<std::mutex> lock(mutex);
      broken = true;
    }
    return done;
  }

  // Names go to the file before the records that refer to them.
  bool put_texts(const std::vector<std::string>& added) {
    if (added.empty()) {
      return true;
    }
    const std::vector<std::string_view> views(added.begin(), added.end());
    const TextNumber first = next_text;
    next_text += static_cast<TextNumber>(added.size());
    return put(ftr::ChunkKind::names, ftr::put_names(first, views, text_level));
  }

  void write(const Batch& batch, const std::vector<std::string>& added) {
    const auto kind =
        static_cast<ftr::ChunkKind>(static_cast<std::uint16_t>(ftr::ChunkKind::first_record) +
                                    static_cast<std::uint16_t>(batch.kind()));
    const bool done = put_texts(added) && (batch.size() == 0 || put(kind, batch.payload()));
    const std::lock_guard<std::mutex> lock(mutex);
    if (done) {
      records_written += batch.size();
    } else {
      drop(batch.kind(), batch.size());
    }
  }

  template <typename Record>
  void queue(std::unique_ptr<BatchOf<Record>>& batch) {
    if (!batch || batch->size() == 0) {
      return;
    }
    if (waiting.size() >= limits.waiting_batches || broken) {
      drop(batch->kind(), batch->size());
      batch->records.clear();
      return;
    }
    waiting.push_back(std::move(batch));
  }

  void queue_all() {
    std::apply([this](auto&... batch) { (queue(batch), ...); }, open);
  }

  // Until it is told to stop and nothing waits.
  void run() {
    using Clock = std::chrono::steady_clock;
    std::unique_lock<std::mutex> lock(mutex);
    auto due = Clock::now() + limits.patience;
    while (true) {
      wake.wait_until(lock, due, [this] { return stop || !waiting.empty(); });
      const bool last = stop;  // it may be set while the lock is open below
      if (last || Clock::now() >= due) {
        queue_all();
        due = Clock::now() + limits.patience;
      }
      while (!waiting.empty()) {
        const std::unique_ptr<Batch> batch = std::move(waiting.front());
        waiting.pop_front();
        const std::vector<std::string> added = std::exchange(new_texts, {});
        lock.unlock();
        write(*batch, added);
        lock.lock();
      }
      if (last) {
        return;
      }
    }
  }
};

RecordWriter::RecordWriter(RecordSink sink, const Facts& facts, WriterLimits limits)
    : state_(std::make_unique<State>(std::move(sink), limits)) {
  ftr::Pairs pairs = {{"content", "records"}};
  pairs.insert(pairs.end(), facts.begin(), facts.end());
  state_->broken = !state_->sink(ftr::head());
  // Text 0 is the empty one.
  static_cast<void>(state_->put(ftr::ChunkKind::info, ftr::put_pairs(pairs)) &&
                    state_->put(ftr::ChunkKind::names,
                                ftr::put_names(0, std::vector<std::string_view>{""}, text_level)));
  const SignalsHeld held;
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

RecordWriter::~RecordWriter() {
  if (state_ && state_->thread.joinable()) {
    {
      const std::lock_guard<std::mutex> lock(state_->mutex);
      state_->stop = true;
    }
    state_->wake.notify_one();
    state_->thread.join();
  }
}

TextNumber RecordWriter::text(std::string_view text) noexcept {
  if (text.empty()) {
    return 0;
  }
  try {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (const auto found = state_->texts.find(text); found != state_->texts.end()) {
      return found->second;
    }
    if (state_->text_bytes + text.size() > state_->limits.text_bytes) {
      ++state_->lost_texts;
      return 0;
    }
    const auto number = static_cast<TextNumber>(state_->texts.size() + 1);
    state_->new_texts.emplace_back(text);
    state_->texts.emplace(text, number);
    state_->text_bytes += text.size();
    return number;
  } catch (...) {
    return 0;
  }
}

template <typename Record>
void RecordWriter::add(const Record& record) noexcept {
  bool full = false;
  try {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    auto& batch = std::get<std::unique_ptr<BatchOf<Record>>>(state_->open);
    if (!batch) {
      batch = std::make_unique<BatchOf<Record>>(state_->limits.records_per_chunk);
    }
    batch->records.push_back(record);
    full = batch->size() >= state_->limits.records_per_chunk;
    if (full) {
      state_->queue(batch);
    }
  } catch (...) {
    state_->drop(RecordTraits<Record>::kind,
                 1);  // no memory: the count may race, the program goes on
  }
  if (full) {
    state_->wake.notify_one();
  }
}

template void RecordWriter::add(const ApiRecord&) noexcept;
template void RecordWriter::add(const KernelRecord&) noexcept;
template void RecordWriter::add(const CopyRecord&) noexcept;
template void RecordWriter::add(const SetRecord&) noexcept;
template void RecordWriter::add(const SynchronizationRecord&) noexcept;
template void RecordWriter::add(const EventRecord&) noexcept;
template void RecordWriter::add(const GraphRecord&) noexcept;
template void RecordWriter::add(const StreamRecord&) noexcept;
template void RecordWriter::add(const ContextRecord&) noexcept;
template void RecordWriter::add(const MemoryRecord&) noexcept;
template void RecordWriter::add(const RangeRecord&) noexcept;
template void RecordWriter::add(const ExternalRecord&) noexcept;
template void RecordWriter::add(const OverheadRecord&) noexcept;
template void RecordWriter::add(const DeviceRecord&) noexcept;
template void RecordWriter::add(const ClockRecord&) noexcept;
template void RecordWriter::add(const ThreadRecord&) noexcept;
template void RecordWriter::add(const DropRecord&) noexcept;

bool RecordWriter::finish(const Facts& facts) noexcept {
  try {
    State& state = *state_;
    {
      const std::lock_guard<std::mutex> lock(state.mutex);
      state.stop = true;
    }
    state.wake.notify_one();
    if (state.thread.joinable()) {
      state.thread.join();
    }
    BatchOf<DropRecord> drops(record_kinds);
    for (std::size_t kind = 0; kind < record_kinds; ++kind) {
      if (state.drops[kind] > 0) {
        drops.records.push_back({static_cast<std::int64_t>(state.drops[kind]),
                                 static_cast<std::uint16_t>(kind), DropPlace::writer});
      }
    }
    constexpr auto drop_chunk =
        static_cast<ftr::ChunkKind>(static_cast<std::uint16_t>(ftr::ChunkKind::first_record) +
                                    static_cast<std::uint16_t>(RecordKind::drop));
    if (drops.size() > 0) {
      static_cast<void>(state.put(drop_chunk, drops.payload()));
    }
    if (!facts.empty()) {
      static_cast<void>(state.put(ftr::ChunkKind::info, ftr::put_pairs(facts)));
    }
    return !state.broken &&
           state.put(ftr::ChunkKind::end,
                     ftr::put_pairs({{"texts lost", std::to_string(state.lost_texts)}}));
  } catch (...) {
    return false;
  }
}

void RecordWriter::abandon() noexcept {
  if (state_) {
    // A thread that is not there can be neither joined nor destroyed; the rest may be locked. It
    // stays within reach, so that nobody takes it for a leak.
    static State* abandoned = nullptr;
    abandoned = state_.release();
    static_cast<void>(abandoned);
  }
}

std::uint64_t RecordWriter::dropped() const noexcept {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::uint64_t sum = 0;
  for (const std::uint64_t count : state_->drops) {
    sum += count;
  }
  return sum;
}

std::uint64_t RecordWriter::written() const noexcept {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->records_written;
}

std::size_t RecordWriter::memory_bound() const noexcept {
  // Waiting, one being written (as records and as columns), and one open of each kind.
  const std::size_t batches = state_->limits.waiting_batches + 2;
  return state_->limits.records_per_chunk * (batches * Kinds::largest + Kinds::bytes_of_all) +
         2 * state_->limits.text_bytes;
}

}  // namespace foretrace::trace::collector
