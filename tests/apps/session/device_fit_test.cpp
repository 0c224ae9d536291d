#include "apps/session/device_fit.h"

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "tests/apps/questions/answers_support.h"
#include "tests/apps/support/program.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

MemoryNeed need_of(std::int64_t bytes) {
  MemoryNeed need{.live_bytes = bytes};
  need.reserved.fresh_bytes = bytes;
  need.reserved.expected_bytes = bytes;
  return need;
}

Accelerator accelerator(const char* name) {
  auto found = test::find_accelerator(name);
  REQUIRE(found.ok());
  return *std::move(found);
}

TEST_CASE("device fit: a run that moves to a device with too little memory does not fit") {
  Recording recording;
  recording.accelerator = accelerator("h100_sxm");
  const DeviceFit fit =
      fit_of(recording, need_of(36 * gib), accelerator("rtx_4090"), need_of(36 * gib));
  CHECK_FALSE(fit.fits);
  // The context of a driver takes 600 MiB at most.
  CHECK(text_of_misfit(fit) == "does not fit: needs 36.6 GiB, has 24.0 GiB (rtx_4090)");
  CHECK(fit_of(recording, need_of(20 * gib), accelerator("rtx_4090"), need_of(20 * gib)).fits);
}

TEST_CASE("device fit: the recorded device holds what it held, and not more than it has") {
  Recording recording;
  recording.accelerator = accelerator("rtx_4090");
  // Recorded with next to all of the memory: with the largest context it would not fit, but it did.
  const MemoryNeed before = need_of(24 * gib - 1);
  CHECK(fit_of(recording, before, *recording.accelerator, before).fits);
  CHECK(fit_of(recording, before, *recording.accelerator, need_of(20 * gib)).fits);
  CHECK_FALSE(fit_of(recording, before, *recording.accelerator, need_of(25 * gib)).fits);
}

TEST_CASE("device fit: without memory or a known device nothing is said") {
  const auto run = test::loaded(FORETRACE_SOURCE_DIR "/tests/fixtures/job/rank0.json.gz");
  const Result<Answer> answer = run.session.ask({});
  REQUIRE(answer.ok());
  CHECK_FALSE(answer->fit());
  CHECK(answer->fits());
}

TEST_CASE("whatif: what does not fit is said first, with exit code 1") {
  const std::string trace = FORETRACE_SHARED_DIR "/traces/triosim/vgg13_h100_kineto.json.gz";
  if (!std::filesystem::exists(trace)) {
    MESSAGE("skipped: no ", trace);
    return;
  }
  const test::Ran ran = test::run_program("whatif '" + trace + "' --accelerator rtx_4090 --quiet");
  CHECK(ran.code == 1);
  CHECK(ran.out.rfind("does not fit: needs ", 0) == 0);
  CHECK(ran.out.find("has 24.0 GiB (rtx_4090)") != std::string::npos);
  CHECK(test::run_program("whatif '" + trace + "' --accelerator h200_sxm --quiet").code == 0);
}

}  // namespace
}  // namespace foretrace
