#include "trace/collect/record_writer.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "trace/collect/record_fields.h"
#include "trace/ftr/container.h"
#include "trace/ftr/rows.h"
#include "trace/ftr/texts.h"

namespace foretrace::trace::collector {
namespace {

// What the end of a file takes at most, with some room: facts, a count for each kind, the mark.
constexpr std::size_t end_bytes = 4096;
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
  State(RecordSink to, Facts known, WriterLimits with)
      : sink(std::move(to)), head_facts(std::move(known)), limits(with) {}

  RecordSink sink;
  const Facts head_facts;
  const WriterLimits limits;

  mutable std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable ended;
  Kinds::OpenBatches open;
  std::deque<std::unique_ptr<Batch>> waiting;
  std::unordered_map<std::string, TextNumber, TextHash, std::equal_to<>> texts;
  std::vector<std::string> new_texts;
  std::size_t text_bytes = 0;
  std::array<std::uint64_t, record_kinds> drops{};
  std::uint64_t lost_texts = 0;
  std::uint64_t records_written = 0;
  bool stop = false;
  bool wants_end = false;  // an end mark, when it stops
  bool broken = false;     // no more records go to the file
  bool whole = false;
  bool done = false;
  std::string reason;  // of `broken`
  Facts end_facts;

  // Of the writer's thread.
  std::uint32_t ordinal = 0;
  TextNumber next_text = 1;
  std::uint64_t file_bytes = 0;
  bool has_head = false;
  bool at_end = false;
  std::time_t last_write = 0;
  std::thread thread;

  void drop(RecordKind kind, std::size_t count) { drops[static_cast<std::size_t>(kind)] += count; }

  void give_up(std::string why) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!broken) {
      broken = true;
      reason = std::move(why);
    }
  }

  // A full disk must not cost the end of the file: its room is kept free until it is written.
  bool put_bytes(std::string_view bytes) {
    if (const int problem = sink(bytes, at_end ? 0 : end_bytes); problem != 0) {
      give_up(std::generic_category().message(problem));
      return false;
    }
    file_bytes += bytes.size();
    return true;
  }

  bool put_chunk(ftr::ChunkKind kind, std::string_view payload) {
    const bool kept = put_bytes(ftr::chunk(kind, ordinal, payload));
    ordinal += kept ? 1 : 0;
    return kept;
  }

  bool put(ftr::ChunkKind kind, std::string_view payload) {
    if (limits.file_bytes > 0 && file_bytes + payload.size() + end_bytes > limits.file_bytes) {
      give_up(limits.limit_error == 0 ? "the file has reached its size limit"
                                      : std::generic_category().message(limits.limit_error));
    }
    if (broken || !put_chunk(kind, payload)) return false;
    last_write = std::time(nullptr);
    return true;
  }

  void put_head() {
    ftr::Pairs pairs = {{"content", "records"}};
    pairs.insert(pairs.end(), head_facts.begin(), head_facts.end());
    // Text 0 is the empty one.
    has_head = put_bytes(ftr::head());
    static_cast<void>(has_head && put(ftr::ChunkKind::info, ftr::put_pairs(pairs)) &&
                      put(ftr::ChunkKind::names,
                          ftr::put_names(0, std::vector<std::string_view>{""}, text_level)));
  }

  // Tried also where records no longer fit: the end is short.
  void put_end() {
    if (!has_head) {  // nobody would know the rest
      return;
    }
    at_end = true;
    BatchOf<DropRecord> dropped(record_kinds);
    ftr::Pairs facts;
    ftr::Pairs lost;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      for (std::size_t kind = 0; kind < record_kinds; ++kind) {
        if (drops[kind] > 0) {
          dropped.records.push_back({static_cast<std::int64_t>(drops[kind]),
                                     static_cast<std::uint16_t>(kind), DropPlace::writer});
        }
      }
      facts = end_facts;
      lost = {{"texts lost", std::to_string(lost_texts)}};
    }
    if (broken) {
      facts.emplace_back(stopped_fact, reason);
      facts.emplace_back(recorded_until_fact, std::to_string(last_write));
    }
    whole = (facts.empty() || put_chunk(ftr::ChunkKind::info, ftr::put_pairs(facts))) &&
            (dropped.size() == 0 || put_chunk(chunk_of(RecordKind::drop), dropped.payload())) &&
            put_chunk(ftr::ChunkKind::end, ftr::put_pairs(lost));
    static_cast<void>(sink({}, 0));
  }

  static ftr::ChunkKind chunk_of(RecordKind kind) {
    return static_cast<ftr::ChunkKind>(static_cast<std::uint16_t>(ftr::ChunkKind::first_record) +
                                       static_cast<std::uint16_t>(kind));
  }

  // Names go to the file before the records that refer to them. Their numbers are used up even if
  // they cannot be written.
  bool put_texts(const std::vector<std::string>& added) {
    if (added.empty()) return true;
    const std::vector<std::string_view> views(added.begin(), added.end());
    const TextNumber first = next_text;
    next_text += static_cast<TextNumber>(added.size());
    return put(ftr::ChunkKind::names, ftr::put_names(first, views, text_level));
  }

  void write(const Batch& batch, const std::vector<std::string>& added) {
    bool kept = false;
    try {
      kept =
          put_texts(added) && (batch.size() == 0 || put(chunk_of(batch.kind()), batch.payload()));
    } catch (...) {  // no memory for the chunk: the batch is lost, the next may fit
    }
    const std::lock_guard<std::mutex> lock(mutex);
    if (kept) {
      records_written += batch.size();
    } else {
      drop(batch.kind(), batch.size());
    }
  }

  template <typename Record>
  void queue(std::unique_ptr<BatchOf<Record>>& batch) {
    if (!batch || batch->size() == 0) return;
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
    put_head();
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
      if (last) break;
    }
    lock.unlock();
    if (wants_end) {
      put_end();
    }
  }

  // An exception that leaves a thread ends the program.
  void run_safely() noexcept {
    try {
      run();
    } catch (...) {
      try {
        give_up("no memory for recording");
      } catch (...) {  // not even for the text, which stays empty
      }
    }
    {
      const std::lock_guard<std::mutex> lock(mutex);
      broken = true;
      done = true;
    }
    ended.notify_all();
  }

  void tell_to_stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      stop = true;
    }
    wake.notify_one();
  }
};

RecordWriter::RecordWriter(RecordSink sink, const Facts& facts, WriterLimits limits)
    : state_(std::make_unique<State>(std::move(sink), facts, limits)) {
  const SignalsHeld held;
  state_->thread = std::thread([state = state_.get()] { state->run_safely(); });
}

RecordWriter::~RecordWriter() {
  if (state_ && state_->thread.joinable()) {
    state_->tell_to_stop();
    state_->thread.join();
  }
}

TextNumber RecordWriter::text(std::string_view text) noexcept {
  if (text.empty()) return 0;
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
    {
      std::unique_lock<std::mutex> lock(state_->mutex);
      state_->end_facts = facts;
      state_->wants_end = true;
      state_->stop = true;
      state_->wake.notify_one();
      if (!state_->ended.wait_for(lock, state_->limits.last_wait,
                                  [this] { return state_->done; })) {
        state_->reason = state_->reason.empty() ? "the disk does not respond" : state_->reason;
        return false;  // the thread goes on for as long as the program takes to end
      }
    }
    state_->thread.join();
    return state_->whole;
  } catch (...) {
    return false;
  }
}

std::string RecordWriter::stopped() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->reason;
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
