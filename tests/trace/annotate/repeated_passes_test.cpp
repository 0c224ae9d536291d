#include "trace/annotate/repeated_passes.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"
#include "trace/annotate/annotate.h"

namespace foretrace::trace {
namespace {

/// A program that launches kernels one after the other, 10 us each.
class Program {
 public:
  void kernel(const std::string& name) {
    const EventId call = table.call(host(), "cudaLaunchKernel", now, 4);
    table.work(call, table.stream(7), now + 6, 8, name);
    now += 10;
  }
  void read_back() {
    const EventId call = table.call(host(), "cudaMemcpyAsync", now, 4);
    table.work(call, table.stream(7), now + 5, 2, "Memcpy DtoH (Device -> Pageable)",
               EventKind::copy);
    now += 10;
  }
  /// Eight layers of two kernels, an embedding before and a read-back after them.
  void pass() {
    kernel("embedding");
    for (int layer = 0; layer < 8; ++layer) {
      kernel("gemm");
      kernel("relu");
    }
    read_back();
    now += 100;  // Python between two passes
  }
  TrackId host() { return table.thread(1); }

  TableBuilder table;
  double now = 0;
};

TEST_CASE("repeated passes: a loop over equal passes is found by its launches") {
  Program program;
  program.kernel("warm up");
  for (int i = 0; i < 5; ++i) program.pass();
  const RepeatedPasses found = find_repeated_passes(program.table.table());
  REQUIRE(found.steps.size() == 5);
  CHECK(found.note == "5 equal passes, found by their launches (18 each); nothing marks steps");
  // A pass begins with its first launch: after the warm-up and 280 us later each.
  CHECK(found.steps[0].start_ns == 10'000);
  CHECK(found.steps[0].end_ns == 290'000);
  CHECK(found.steps[4].start_ns == 10'000 + 4 * 280'000);
  CHECK(found.steps[4].number == 5);
  CHECK(annotate(program.table.table()).steps.size() == 5);
}

TEST_CASE("repeated passes: the layers of one pass are no passes") {
  Program program;
  program.pass();
  CHECK(find_repeated_passes(program.table.table()).steps.empty());
  // Nor are they where the read-back is missing altogether.
  Program layers;
  for (int layer = 0; layer < 40; ++layer) {
    for (int i = 0; i < 10; ++i) layers.kernel("k" + std::to_string(i));
  }
  CHECK(find_repeated_passes(layers.table.table()).steps.empty());
}

TEST_CASE("repeated passes: training that never meets the host has its optimizer in each") {
  Program program;
  const auto train = [&](bool updates) {
    for (int i = 0; i < 4; ++i) {
      for (int layer = 0; layer < 8; ++layer) program.kernel("forward " + std::to_string(layer));
      const double begin = program.now;
      program.kernel("adam");
      if (updates) {
        program.table.event(EventKind::user_annotation, "Optimizer.step#Adam.step", program.host(),
                            begin, program.now - begin);
      }
      program.now += 100;
    }
  };
  train(true);
  CHECK(find_repeated_passes(program.table.table()).steps.size() == 4);
  program = Program();
  train(false);
  CHECK(find_repeated_passes(program.table.table()).steps.empty());
}

TEST_CASE("repeated passes: what repeats for a part of the run only is no step of it") {
  Program program;
  for (int i = 0; i < 200; ++i) program.kernel("encoder " + std::to_string(i));
  for (int i = 0; i < 5; ++i) program.pass();  // 90 of 290 launches
  CHECK(find_repeated_passes(program.table.table()).steps.empty());
}

TEST_CASE("repeated passes: what is cut off at both ends of a run does not count against it") {
  Program program;
  const auto half = [&] {
    for (int layer = 0; layer < 4; ++layer) {
      program.kernel("gemm");
      program.kernel("relu");
    }
  };
  half();
  program.read_back();
  program.now += 100;
  for (int i = 0; i < 3; ++i) program.pass();
  program.kernel("embedding");
  half();
  CHECK(find_repeated_passes(program.table.table()).steps.size() == 3);  // of 4
}

TEST_CASE("repeated passes: two are not enough") {
  Program program;
  program.pass();
  program.pass();
  CHECK(find_repeated_passes(program.table.table()).steps.empty());
}

TEST_CASE("repeated passes: ranges of one name are found where launches differ") {
  Program program;
  for (int i = 0; i < 4; ++i) {
    const double begin = program.now;
    for (int k = 0; k < 10 + i; ++k) program.kernel("k" + std::to_string(17 * i + k));
    program.read_back();
    program.table.event(EventKind::user_annotation, "iteration " + std::to_string(i),
                        program.host(), begin, program.now - begin);
    program.now += 50;
  }
  const RepeatedPasses found = find_repeated_passes(program.table.table());
  REQUIRE(found.steps.size() == 4);
  CHECK(found.note == "4 passes, found by ranges named 'iteration'; nothing marks steps");
  CHECK(found.steps[1].start_ns == 160'000);  // 10 kernels, a read-back and the pause
}

TEST_CASE("repeated passes: marked steps are left alone") {
  Program program;
  for (int i = 0; i < 5; ++i) program.pass();
  program.table.event(EventKind::user_annotation, "ProfilerStep#3", program.host(), 0, program.now);
  const Annotation annotation = annotate(program.table.table());
  CHECK(annotation.steps.size() == 1);
  CHECK(annotation.steps_note.empty());
}

}  // namespace
}  // namespace foretrace::trace
