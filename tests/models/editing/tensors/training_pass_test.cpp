#include "models/editing/tensors/training_pass.h"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/configs.h"
#include "tests/models/pipelined_step.h"

using namespace foretrace;
using editing::KernelEditor;

TEST_CASE("training pass: every micro-batch of a stage is a pass, whatever follows it") {
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    for (const int stages : {1, 2, 4}) {
      for (const int batches : {4, 8}) {
        CAPTURE(schedule);
        CAPTURE(stages);
        CAPTURE(batches);
        const TaskGraph graph = test::pipelined_step(schedule, stages, batches);
        const KernelEditor editor({graph, nullptr, *test::shipped()});
        std::map<std::int32_t, std::vector<editing::TrainingPass>> passes;
        for (auto& pass : editing::find_passes(editor)) {
          passes[graph.lane(pass.forward.front()).rank].push_back(pass);
        }
        if (stages == 1 && schedule == "gpipe") continue;  // nothing tells them apart
        CHECK(passes.size() == static_cast<std::size_t>(stages));
        for (const auto& [rank, found] : passes) {
          CHECK(found.size() == static_cast<std::size_t>(batches));
          for (const auto& pass : found) {
            CHECK(pass.forward.size() == found.front().forward.size());
            CHECK(index(pass.forward.back()) < index(pass.backward.front()));
          }
        }
      }
    }
  }
}
