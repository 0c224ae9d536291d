// Any bytes as an archive of a job's traces: members are walked, read and built into one graph.
// The same bytes as the list of recordings that a collector writes.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/annotate/collectives/argument_text.h"
#include "trace/formats/reader.h"
#include "trace/inputs/manifest.h"
#include "trace/io/archive.h"
#include "trace/ranks/job.h"

namespace {

namespace trace = foretrace::trace;

/// A seed is a handful of members; more would only be slow.
constexpr std::size_t most_members = 8;

std::vector<trace::RankTrace> read_members(std::string_view bytes) {
  const auto archive = trace::open_memory(bytes, "fuzz.tar");
  trace::ArchiveReader members(*archive);
  std::vector<trace::RankTrace> ranks;
  while (ranks.size() < most_members) {
    auto member = members.next();
    if (!member.ok() || !member->has_value()) {
      break;
    }
    auto loaded = trace::read_source(std::move((*member)->bytes), {});
    if (loaded.ok()) {
      ranks.push_back(
          {"member", static_cast<std::int32_t>(ranks.size()), std::move(loaded).value()});
    }
  }
  return ranks;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  trace::visit_members(bytes, [](std::string_view, std::string_view value) {
    (void)trace::integers_of(value);
    (void)trace::elements_of_dims(value);
  });
  if (trace::is_manifest(bytes)) {
    (void)trace::parse_manifest(bytes, "fuzz.json");
  }
  std::vector<trace::RankTrace> ranks = read_members(bytes);
  if (!ranks.empty()) {
    (void)trace::build_job(ranks);
  }
  return 0;
}
