#include "trace/formats/kineto/environment.h"

#include <array>

#include <fmt/format.h>
#include <simdjson.h>

#include "trace/formats/json/number.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

using simdjson::dom::element;

constexpr std::size_t longest_fact = 1024;

std::int64_t integer_at(const TopLevelValues& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? 0 : integer_from(found->second).value_or(0);
}

// 12020 is 12.2.
std::string cuda_version(std::int64_t version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// HIP_VERSION of hip_version.h: major * 10^7 + minor * 10^5 + patch.
std::string hip_version(std::int64_t version) {
  return fmt::format("{}.{}.{}", version / 10'000'000, version / 100'000 % 100, version % 100'000);
}

void add_versions(const TopLevelValues& values, TraceInfo& info) {
  struct Known {
    std::string_view key;
    const char* name;
    std::string (*text)(std::int64_t);
  };
  constexpr std::array known = {
      Known{"cuda_driver_version", "CUDA driver", cuda_version},
      Known{"cuda_runtime_version", "CUDA runtime", cuda_version},
      Known{"cupti_version", "CUPTI", [](std::int64_t v) { return fmt::format("{}", v); }},
      Known{"hip_driver_version", "HIP driver", hip_version},
      Known{"hip_runtime_version", "HIP runtime", hip_version}};
  for (const Known& version : known) {
    if (const std::int64_t value = integer_at(values, version.key); value > 0) {
      info.environment.emplace_back(version.name, version.text(value));
    }
  }
}

void add_text(element object, std::string_view key, std::string name, TraceInfo& info) {
  std::string_view text;
  if (object[key].get(text) == simdjson::SUCCESS && !text.empty() && text != "undefined") {
    info.environment.emplace_back(std::move(name), shortened(text, longest_fact));
  }
}

void add_job(const TopLevelValues& values, TraceInfo& info) {
  const auto found = values.find("distributedInfo");
  simdjson::dom::parser parser;
  element value;
  if (found == values.end() || parser.parse(found->second).get(value) != simdjson::SUCCESS) return;
  add_text(value, "backend", "backend", info);
  add_text(value, "nccl_version", "NCCL", info);
  std::int64_t groups = 0;
  if (value["pg_count"].get(groups) == simdjson::SUCCESS && groups > 0) {
    info.environment.emplace_back("process groups", fmt::format("{}", groups));
  }
}

void add_switches(const TopLevelValues& values, TraceInfo& info) {
  struct Known {
    std::string_view key;
    std::string_view name;
  };
  constexpr std::array known = {Known{"record_shapes", "shapes"}, Known{"with_stack", "stacks"},
                                Known{"with_modules", "modules"}, Known{"profile_memory", "memory"},
                                Known{"with_flops", "flops"}};
  std::string profiled;
  for (const Known& option : known) {
    if (integer_at(values, option.key) != 0) {
      profiled += fmt::format("{}{}", profiled.empty() ? "" : " + ", option.name);
    }
  }
  if (!profiled.empty()) {
    info.environment.emplace_back("profiled with", profiled);
  }
}

// False if there is none.
bool add_written(const TopLevelValues& values, TraceInfo& info) {
  const auto found = values.find("environment");
  simdjson::dom::parser parser;
  simdjson::dom::object facts;
  if (found == values.end() || parser.parse(found->second).get(facts) != simdjson::SUCCESS) {
    return false;
  }
  for (const auto& fact : facts) {
    std::string_view text;
    if (fact.value.get(text) == simdjson::SUCCESS) {
      info.environment.emplace_back(shortened(fact.key, longest_fact),
                                    shortened(text, longest_fact));
    }
  }
  return true;
}

}  // namespace

void fill_environment(const TopLevelValues& values, TraceInfo& info) {
  if (!add_written(values, info)) {
    add_versions(values, info);
    add_job(values, info);
    add_switches(values, info);
  }
}

}  // namespace foretrace::trace::formats
