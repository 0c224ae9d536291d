// Bytes to what users write: what-ifs as JSON and as text, profiles of memory, and the values of
// options. The first byte chooses which; what parses is checked against the components it names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "apps/questions/memory/memory_budget.h"
#include "apps/session/replay/memory_need.h"
#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/catalogue/memory_profile.h"
#include "models/hardware/memories/allocator_settings.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/config.h"
#include "sim/result/steps/steps.h"
#include "tests/configs.h"
#include "trace/collect/settings.h"

namespace {

using namespace foretrace;

template <typename T>
void check(const Result<T>& result) {
  if (!result.ok() && result.error().message.empty()) {
    std::abort();
  }
}

void try_what_ifs_json(std::string_view text) {
  const auto specs = parse_what_ifs_json(text, "fuzz.json");
  check(specs);
  if (specs.ok()) {
    check(check_stack(*specs));
  }
}

void try_what_if(std::string_view text) {
  const auto spec = parse_what_if(text);
  check(spec);
  if (spec.ok()) {
    check(check_what_if(*spec));
  }
}

void try_documents(std::string_view text) {
  check(parse_config(text));
  check(parse_config_document(text, "fuzz.json", "foretrace.memory/1"));
  check(parse_memory_profile(text, "fuzz.json"));
}

void try_values(std::string_view text) {
  check(parse_budget_size(text));
  check(parse_when_full(text));
  check(parse_step_choice(text));
  check(parse_allocator_settings(text));
  check(parse_target(*foretrace::test::shipped(), text, std::nullopt));
  if (const auto steps = trace::collector::step_range_of(text); steps) {
    if (steps->first < 0 || steps->last < steps->first) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are text here
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: try_what_ifs_json(text); break;
    case 1: try_what_if(text); break;
    case 2: try_documents(text); break;
    default: try_values(text); break;
  }
  return 0;
}
