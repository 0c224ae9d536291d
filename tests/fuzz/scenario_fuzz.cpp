// Bytes to what describes a job, a cluster or a queue of jobs: scenarios, clusters, models,
// frameworks, schedules, tables of jobs, rules of batch sizes, fleets, and files of other
// simulators. The first byte chooses which.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apps/extras/federated/federated.h"
#include "apps/extras/frames/streams.h"
#include "apps/extras/storage/storage.h"
#include "apps/plans/time_to_train.h"
#include "apps/scheduling/schedule.h"
#include "models/hardware/catalogue/cells.h"
#include "models/hardware/catalogue/imported_file.h"
#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/cluster_import.h"
#include "models/jobs/scenario/scenario.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/workloads/model_import.h"
#include "models/jobs/workloads/model_spec.h"
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
  auto scenario = parse_scenario(*test::shipped(), text, "fuzz.json");
  if (check(scenario)) {
    check(complete_scenario(*std::move(scenario)));
  }
}

void try_schedule(std::string_view text) {
  check(scheduling::parse_schedule(text, "fuzz.json"));
  check(scheduling::parse_csv(text, "fuzz.csv"));
}

/// What is not of JSON finds its reader by its text.
void try_imports(std::string_view text) {
  auto file = imported_text(std::string(text), "fuzz.txt");
  if (!check(file)) return;
  if (const ModelImport* const import = model_import_of(*file)) check(import->read(*file));
  if (const ClusterImport* const import = cluster_import_of(*file)) {
    check(import->read(*test::shipped(), *file));
  }
}

void try_fleets(std::string_view text) {
  check(parse_streams(*test::shipped(), text, "fuzz.json"));
  check(parse_stored_input(text, "fuzz.json"));
  check(parse_federated(text, "fuzz.json"));
  check(parse_training(test::shipped(), text, "fuzz.json"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are text here
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 7) {  // the digits 0 to 6 are model, framework, scenario, ...
    case 6: check(parse_model(text, "fuzz.json")); break;
    case 0: check(parse_framework(*test::shipped(), text, "fuzz.json")); break;
    case 1: try_scenario(text); break;
    case 2: try_schedule(text); break;
    case 3: check(parse_cluster(*test::shipped(), text, "fuzz.json")); break;
    case 4: try_imports(text); break;
    default: try_fleets(text); break;
  }
  return 0;
}
