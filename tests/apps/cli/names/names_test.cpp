#include "apps/cli/names/names.h"

#include <set>

#include <doctest/doctest.h>

#include "apps/cli/names/configs.h"

namespace foretrace::app {
namespace {

void use_configs() { find_configs(FORETRACE_SOURCE_DIR "/configs"); }

TEST_CASE("every alias leads to one what-if that there is, and hides none") {
  use_configs();
  const auto aliases = what_if_aliases();
  REQUIRE(aliases.ok());
  REQUIRE_FALSE(aliases->empty());
  std::set<std::string> words;
  for (const Alias& alias : *aliases) {
    CAPTURE(alias.word);
    CHECK(find_what_if(alias.name).ok());
    CHECK_FALSE(find_what_if(alias.word).ok());
    CHECK(words.insert(alias.word).second);
  }
}

TEST_CASE("a name is itself, a word is what it stands for, case and separators do not matter") {
  use_configs();
  CHECK(*what_if_named("mixed_precision") == "mixed_precision");
  CHECK(*what_if_named("Mixed Precision") == "mixed_precision");
  CHECK(*what_if_named("AMP") == "mixed_precision");
  CHECK(*what_if_named("torch.compile") == "whole_program_fusion");
  CHECK(what_if_named("fsdp").error().code == ErrorCode::not_found);
  CHECK_FALSE(what_if_named("nothing_of_the_kind").ok());
}

TEST_CASE("accelerators are found by what traces call them, and by the start of one name") {
  use_configs();
  CHECK(*accelerator_named("h100_sxm") == "h100_sxm");
  CHECK(*accelerator_named("NVIDIA H100 80GB HBM3") == "h100_sxm");
  CHECK(*accelerator_named("Tesla P100-PCIE-16GB") == "p100_pcie_16gb");
  CHECK(*accelerator_named("p100") == "p100_pcie_16gb");
  CHECK_FALSE(accelerator_named("a100").ok());
  CHECK(*accelerator_named("my/own.json") == "my/own.json");
}

}  // namespace
}  // namespace foretrace::app
