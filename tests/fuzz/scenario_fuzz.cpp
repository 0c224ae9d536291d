// Bytes to what describes a job, a cluster or a queue of jobs: scenarios, clusters, models,
// frameworks, schedules, tables of jobs and rules of batch sizes. The first byte chooses which.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apps/driver/plan/scenario.h"
#include "apps/driver/scheduler/schedule.h"
#include "apps/driver/scheduler/sources/batch_rules.h"
#include "apps/driver/scheduler/sources/cells.h"
#include "models/networks/cluster.h"
#include "models/program/framework.h"
#include "models/workloads/model_spec.h"
#include "tests/configs.h"

namespace {

using namespace foretrace;

/// A mistake is told in one line.
template <typename T>
bool check(const Result<T>& result) {
  if (result.ok()) {
    return true;
  }
  const std::string& message = result.error().message;
  if (message.empty() || message.find('\n') != std::string::npos) {
    std::abort();
  }
  return false;
}

void try_scenario(std::string_view text) {
  auto scenario = driver::parse_scenario(*test::shipped(), text, "fuzz.json");
  if (check(scenario)) {
    check(driver::complete_scenario(*std::move(scenario)));
  }
}

void try_schedule(std::string_view text) {
  check(scheduling::parse_schedule(text, "fuzz.json"));
  check(scheduling::parse_csv(text, "fuzz.csv"));
  check(scheduling::parse_batch_rules(text, "fuzz.json"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are text here
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0: try_scenario(text); break;
    case 1: try_schedule(text); break;
    case 2: check(parse_cluster(*test::shipped(), text, "fuzz.json")); break;
    case 3: check(parse_model(text, "fuzz.json")); break;
    default: check(parse_framework(text, "fuzz.json")); break;
  }
  return 0;
}
