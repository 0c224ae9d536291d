// The writer's thread: whole files, bounded memory, drops that are counted, and kills survived.
#include "trace/collect/record_writer.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/trace/collect/record_helpers.h"
#include "tests/trace/formats/read_helpers.h"

namespace foretrace::trace::collector {
namespace {

using namespace std::chrono_literals;

KernelRecord kernel_at(std::int64_t start, TextNumber name) {
  KernelRecord kernel;
  kernel.start = start;
  kernel.end = start + 5;
  kernel.stream = 7;
  kernel.correlation = 1;
  kernel.name = name;
  return kernel;
}

TEST_CASE("collector: the facts of a file are known without its records, also those of its end") {
  std::string file;
  RecordWriter writer(sink_to(file), {{"command", "train"}, {"rank", "2"}});
  writer.add(kernel_at(100, writer.text("k")));
  CHECK(writer.finish({{"steps seen", "0"}}));
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("foretrace_facts_" + std::to_string(::getpid()));
  const auto facts_of_text = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    return facts_of_file(path.string());
  };
  const ftr::Pairs facts = facts_of_text(file);
  CHECK(ftr::number_of(facts, "rank", -1) == 2);
  CHECK(ftr::value_of(facts, "steps seen") == "0");
  std::string damaged = file;
  damaged[ftr::head_bytes + ftr::chunk_head_bytes + 3] ^= 1;  // in the first facts
  CHECK(ftr::value_of(facts_of_text(damaged), "command").empty());
  CHECK(facts_of_text("x").empty());
  CHECK(facts_of_text(file.substr(0, ftr::head_bytes)).empty());
  std::filesystem::remove(path);
  CHECK(facts_of_file(path.string()).empty());
}

TEST_CASE("collector: the facts at the end of a large recording are found without its records") {
  std::string file;
  RecordWriter writer(sink_to(file), {{"rank", "2"}}, {.waiting_batches = 10'000});
  for (int i = 0; i < 200'000; ++i) {
    writer.add(kernel_at(1 + i * 7919LL % 1'000'003, 0));
  }
  CHECK(writer.finish({{"steps seen", "12"}}));
  CHECK(file.size() > std::size_t{1} << 18U);
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("foretrace_ends_" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << file;
  CHECK(ftr::number_of(facts_of_file(path.string()), "rank", -1) == 2);
  CHECK(ftr::number_of(facts_of_file(path.string()), "steps seen", -1) == 12);
  std::filesystem::remove(path);
}

TEST_CASE("collector: what is added to a writer is read back, kind by kind") {
  std::string file;
  RecordWriter writer(sink_to(file), {{"command", "train"}, {"rank", "2"}});
  const TextNumber name = writer.text("k");
  CHECK(writer.text("k") == name);
  CHECK(writer.text("") == 0);
  writer.add(kernel_at(100, name));
  ApiRecord api;
  api.start = 90;
  api.end = 99;
  api.name = writer.text("cudaLaunchKernel");
  api.correlation = 1;
  writer.add(api);
  writer.add(CopyRecord{});
  writer.add(SetRecord{});
  writer.add(SynchronizationRecord{});
  writer.add(EventRecord{});
  writer.add(GraphRecord{});
  writer.add(StreamRecord{});
  writer.add(ContextRecord{});
  writer.add(MemoryRecord{});
  writer.add(RangeRecord{});
  writer.add(ExternalRecord{});
  writer.add(OverheadRecord{});
  writer.add(DeviceRecord{});
  writer.add(ClockRecord{});
  writer.add(ThreadRecord{});
  writer.add(DropRecord{});
  CHECK(writer.finish());
  CHECK(writer.written() == 17);
  CHECK(writer.dropped() == 0);
  const LoadedTrace trace = read_bytes("ftr", file);
  CHECK(trace.report.events == 17);
  CHECK(trace.report.warnings.empty());
  CHECK(trace.events.info.rank == 2);
  const EventId found = event_called(trace.events, "k");
  CHECK(trace.events.start_ns[index(found)] == 10);
  CHECK(trace.events.correlation[index(found)] == 1);
}

TEST_CASE("collector: many threads may add at once") {
  std::string file;
  RecordWriter writer(sink_to(file), {}, {.records_per_chunk = 100, .waiting_batches = 10'000});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&writer, t] {
      for (int i = 0; i < 5000; ++i) {
        writer.add(kernel_at(1 + i, writer.text("k" + std::to_string((t * i) % 50))));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(writer.finish());
  const LoadedTrace trace = read_bytes("ftr", file);
  CHECK(trace.events.size() == 20'000);
  CHECK(trace.report.damage.empty());
}

TEST_CASE("collector: a disk that is too slow costs records, which are counted, and no memory") {
  std::string file;
  std::atomic<bool> blocked{true};
  std::size_t seen = 0;
  RecordWriter writer(
      [&](std::string_view bytes, std::size_t) {
        while (blocked && seen > 2) {  // the head and the facts go through
          std::this_thread::sleep_for(1ms);
        }
        ++seen;
        file += bytes;
        return 0;
      },
      {}, {.records_per_chunk = 1000, .waiting_batches = 3, .text_bytes = 1000, .patience = 1h});
  for (int i = 0; i < 100'000; ++i) {
    writer.add(kernel_at(1 + i, 0));
  }
  // At most 1 being written, 3 waiting and 1 open batch of 1,000 are not dropped.
  CHECK(writer.dropped() >= 95'000);
  CHECK(writer.memory_bound() < 10'000 * sizeof(KernelRecord) + 4'000 * 1000);
  blocked = false;
  CHECK(writer.finish());
  const LoadedTrace trace = read_bytes("ftr", file);
  CHECK(trace.events.size() + writer.dropped() == 100'000);
  CHECK(damage_count(trace.report, "records of kernels the disk was too slow for") ==
        writer.dropped());
}

TEST_CASE("collector: a disk that is full ends the writing, not the program, and the end says so") {
  int calls = 0;
  std::string file;
  RecordWriter writer(
      [&](std::string_view bytes, std::size_t) {
        if (++calls ==
            7) {  // head, facts, text 0 and 3 chunks; what this gives back is room enough
          return ENOSPC;
        }
        file += bytes;
        return 0;
      },
      {}, {.records_per_chunk = 10, .waiting_batches = 1000, .patience = 1h});
  for (int i = 0; i < 1000; ++i) {
    writer.add(kernel_at(1 + i, 0));
  }
  CHECK(writer.finish({{"steps seen", "3"}}));
  CHECK(writer.stopped() == "No space left on device");
  CHECK(writer.written() == 30);
  CHECK(writer.written() + writer.dropped() == 1000);
  const LoadedTrace trace = read_bytes("ftr", file);
  CHECK(trace.events.size() == 30);
  CHECK(has_warning(trace.report, "UTC only, the program continued: No space left on device"));
  CHECK(damage_count(trace.report, "records of kernels that could not be written") == 970);
}

TEST_CASE("collector: a disk that stays full leaves whole chunks and no end mark") {
  int calls = 0;
  RecordWriter writer([&calls](std::string_view, std::size_t) { return ++calls < 5 ? 0 : ENOSPC; },
                      {}, {.records_per_chunk = 10});
  for (int i = 0; i < 1000; ++i) {
    writer.add(kernel_at(1 + i, 0));
  }
  CHECK_FALSE(writer.finish());
  CHECK(writer.written() + writer.dropped() == 1000);
}

TEST_CASE("collector: a file grows to its limit, with room for its end, and no further") {
  std::string file;
  RecordWriter writer(sink_to(file), {},
                      {.records_per_chunk = 10, .patience = 1h, .file_bytes = 20'000});
  for (int i = 0; i < 100'000; ++i) {
    writer.add(kernel_at(1 + i * 977 % 5000, 0));
    if (i % 1000 == 0) {
      std::this_thread::sleep_for(1ms);  // nothing is dropped for want of time
    }
  }
  CHECK(writer.finish());
  CHECK(file.size() <= 20'000);
  CHECK(file.size() > 10'000);
  CHECK(has_warning(read_bytes("ftr", file).report, "the file has reached its size limit"));
}

TEST_CASE("collector: a sink that throws ends the recording, not the program") {
  RecordWriter writer(
      [calls = 0](std::string_view, std::size_t) mutable {
        return ++calls < 5 ? 0 : throw std::bad_alloc();
      },
      {}, {.records_per_chunk = 10});
  for (int i = 0; i < 1000; ++i) {
    writer.add(kernel_at(1 + i, 0));
  }
  CHECK_FALSE(writer.finish());
}

TEST_CASE("collector: a disk that hangs does not keep the program from ending") {
  std::atomic<bool> hangs{true};
  RecordWriter writer(
      [&](std::string_view, std::size_t) {
        while (hangs) {
          std::this_thread::sleep_for(1ms);
        }
        return 0;
      },
      {}, {.last_wait = 50ms});
  const auto before = std::chrono::steady_clock::now();
  CHECK_FALSE(writer.finish());
  CHECK(std::chrono::steady_clock::now() - before < 5s);
  CHECK(writer.stopped() == "the disk does not respond");
  hangs = false;
}

TEST_CASE("collector: texts beyond the limit become the empty one") {
  std::string file;
  RecordWriter writer(sink_to(file), {}, {.text_bytes = 10});
  const TextNumber fits = writer.text("12345678");
  CHECK(fits == 1);
  CHECK(writer.text("abc") == 0);
  CHECK(writer.text("12345678") == fits);
  CHECK(writer.finish());
}

TEST_CASE("collector: a day of records at full speed stays within the bound of the buffers") {
  // A training step of 100 ms with 20 kernels, for 24 hours: 864,000 steps, 17,280,000 records.
  constexpr std::int64_t steps = 24LL * 3600 * 10;
  constexpr std::int64_t step_ns = 100'000'000;
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  RecordWriter writer(
      [&](std::string_view piece, std::size_t) {
        bytes += piece.size();
        ++chunks;
        return 0;
      },
      {}, {.records_per_chunk = 8192, .waiting_batches = 16, .text_bytes = 1U << 20U});
  // 18 batches of 8,192 kernels of 136 bytes, one open batch of every kind, and the texts.
  CHECK(writer.memory_bound() < 40'000'000);
  const TextNumber name = writer.text("kernel");
  std::uint64_t added = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::int64_t i = 0; i < 20; ++i) {
      writer.add(kernel_at(1 + step * step_ns + i * 4'000'000, name));
      ++added;
    }
  }
  CHECK(writer.finish());
  CHECK(added == 17'280'000);
  CHECK(writer.written() + writer.dropped() == added);
  CHECK(chunks > 100);
  // Regular records pack well: far below the 136 bytes that each takes in memory.
  CHECK(bytes < added * 5);
}

TEST_CASE(
    "collector: a program killed while it records leaves a file with all but its last chunk") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("foretrace_kill_" + std::to_string(::getpid())))
          .string();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    std::setvbuf(file, nullptr, _IONBF, 0);
    auto* const writer = new RecordWriter(
        [file](std::string_view bytes, std::size_t) {
          return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() ? 0 : EIO;
        },
        {}, {.records_per_chunk = 500});
    for (std::int64_t i = 0; i < 1'000'000'000; ++i) {
      writer->add(kernel_at(1 + i, writer->text("k")));
      if (writer->written() >= 20'000) {
        ::kill(::getpid(), SIGKILL);
      }
    }
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  const auto loaded = read_trace(path, {});
  std::filesystem::remove(path);
  REQUIRE(loaded.ok());
  CHECK(loaded->events.size() >= 20'000);
  CHECK(loaded->events.size() % 500 == 0);
  CHECK(has_warning(loaded->report, "the file has no end mark, its writer was stopped"));
  CHECK(loaded->report.damage.empty());
}

}  // namespace
}  // namespace foretrace::trace::collector
