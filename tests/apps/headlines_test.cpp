// First lines on real recordings: no figure beside one that contradicts it.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

/// Empty where the recording is not there.
std::string answer_of(const std::string& command, const std::string& recording) {
  const std::string path = FORETRACE_SHARED_DIR "/traces/" + recording;
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: no " << path);
    return {};
  }
  const Ran ran = run_program(command + " " + path);
  CHECK(ran.code == 0);
  REQUIRE_FALSE(ran.out.empty());
  return ran.out;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("inspect: a step that the device limits is no member of the host's range") {
  const std::string page = answer_of("inspect -q", "tracelens/resnet_act_ckpt_mi300x.json.gz");
  if (page.empty()) return;
  CHECK(
      holds(page, "step 18.98 ms measured (device period), host 15.89 ms to 16.80 ms in 3 steps"));
}

TEST_CASE("rank-all: what gains nothing is not announced as a gain, and noise is called so") {
  const std::string none = answer_of("whatif --rank-all -q", "hta/triton_a100.json.gz");
  if (none.empty()) return;
  CHECK(none.starts_with("nothing here helps: "));
  CHECK(holds(none, "; best of "));
  const std::string noise =
      answer_of("whatif --rank-all -q", "torchrec_dlrm_v100x4/fp32_a2a_rank0.json.gz");
  CHECK(holds(noise, ", within noise)"));
}

TEST_CASE("critical-path: the first line says what bounds the step, by its regions or kernels") {
  const std::string host = answer_of("critical-path", "kineto_resnet50/workers0_v100.json.gz");
  if (host.empty()) return;
  CHECK(host.starts_with("step 5, 176.1 ms, is CPU-bound (98.7 %): DataLoader 68.7 ms, SGD.step"));
  CHECK_FALSE(holds(host, "host time of thread"));
  const std::string device = answer_of("critical-path -q", "saf_amg/n28_baseline_a100.json.gz");
  CHECK(holds(device, "is GPU-bound ("));
}

TEST_CASE("whatif: what fits an accelerator is asked of the run there") {
  const std::string asked = "whatif " FORETRACE_SOURCE_DIR
                            "/examples/traces/demo_generated_cnn.json.gz --max-batch --fit t4 -q";
  const Ran fit = run_program(asked);
  REQUIRE(fit.code == 0);
  CHECK(fit.out == run_program(asked + " --accelerator t4").out);
  // A size asks about memory alone: the run stays on its device.
  CHECK(fit.out != run_program("whatif " FORETRACE_SOURCE_DIR
                               "/examples/traces/demo_generated_cnn.json.gz --max-batch --fit "
                               "16GiB -q")
                       .out);
}

TEST_CASE("whatif: a measured step outside of the range is said to be, one inside is not") {
  const auto checked = [](const std::string& change) {
    const std::string folder = FORETRACE_SOURCE_DIR "/examples/traces/h200/decode.";
    const Ran ran = run_program("whatif " + folder + "baseline.ftr.gz --apply cuda_graph --check " +
                                folder + change + ".ftr.gz -q");
    CHECK(ran.code == 0);
    return ran.out;
  };
  CHECK(holds(checked("cuda_graph"), " off, outside its range)"));
  // What was not changed is far from the prediction, too, and from its range.
  CHECK(holds(checked("baseline"), "outside its range"));
}

TEST_CASE("plan: without a precision it takes one that the machine has units for") {
  const std::string asked = "plan gpt2_xl --cluster aws_g4dn --gpus 64 --batch 64";
  const Ran ran = run_program(asked + " -q");
  CHECK(ran.code == 0);
  CHECK(ran.out == run_program(asked + " --precision fp16 -q").out);
  CHECK(run_program(asked + " --precision bf16 -q").code == 2);
}

TEST_CASE("whatif: more samples in the same time are no noise") {
  const std::string page =
      answer_of("whatif --apply batch_size:factor=0.5", "tracelens/resnet18_train_mi300x.json.gz");
  if (page.empty()) return;
  CHECK(holds(page, "samples/s"));
  CHECK_FALSE(holds(page, "noise"));
}

TEST_CASE("simulate: the page and its doubt say one share of unexplained time for a job") {
  const std::string page = answer_of("simulate", "megatron_tp8_a100");
  if (page.empty()) return;
  // 8 ranks of 652 ms: 268 ms of launches that took long are 5.1 % of them all.
  CHECK(holds(page, "blocked launch calls (5.1 %"));
  CHECK(holds(page, "blocked launch calls: 5.1 %"));
}

TEST_CASE("inspect: the ranks of a job name the late one, by how much, and only if one is late") {
  const std::string job = FORETRACE_SOURCE_DIR "/tests/fixtures/job";
  // Rank 2 stalls for 30 ms before a launch of each step.
  const std::string first = "rank 2 makes the others wait ";
  const Ran late = run_program("inspect -q " + job);
  CHECK(late.out.starts_with(first));
  CHECK(run_program("inspect -q --communication " + job)
            .out.starts_with(late.out.substr(0, late.out.find('\n'))));
  CHECK(holds(run_program("inspect --json " + job).out, "\"late_rank\": {"));
  // Without it no rank is later than the others together; one trace has no other rank.
  const std::string rest = " " + job + "/rank0.json.gz " + job + "/rank1.json.gz";
  CHECK_FALSE(holds(run_program("inspect -q" + rest).out, "makes the others wait"));
  CHECK_FALSE(
      holds(run_program("inspect -q " + job + "/rank2.json.gz").out, "makes the others wait"));
}

TEST_CASE("whatif: efficiency against another rate than the recorded one says against which") {
  const std::string asked = "whatif -q " FORETRACE_SOURCE_DIR
                            "/examples/traces/h200/gpt2.baseline.ftr.gz --cluster dgx_a100 "
                            "--parallel ";
  // A copy does what was recorded: efficiency is the factor over the number of GPUs.
  CHECK_FALSE(holds(run_program(asked + "data=4").out, "doing the same work"));
  // The stages of a pipeline share the samples of several passes, which one GPU would accumulate.
  const std::string line = run_program(asked + "pipeline=4").out;
  const auto number_behind = [&line](const std::string& word) {
    const std::size_t at = line.find(word);
    REQUIRE(at != std::string::npos);
    return std::stod(line.substr(at + word.size()));
  };
  const double factor = number_behind("samples/s, ");
  const double efficiency = number_behind("x (") / 100;
  const double alone = number_behind("; one GPU doing the same work: ");
  CHECK(factor == doctest::Approx(4 * efficiency * alone).epsilon(0.02));
}

TEST_CASE("whatif: fewer devices than recorded are as efficient as their rate per device") {
  const std::string line = answer_of("whatif -q --cluster mi300x_x8 --parallel data=2",
                                     "tracelens/resnet_act_ckpt_mi300x.json.gz");
  if (line.empty()) return;
  // A quarter of the samples on a quarter of the GPUs, which wait a little less for each other.
  CHECK(line.starts_with("2 GPUs: "));
  CHECK(holds(line, ", 0.25x (100 % efficiency); "));
}

TEST_CASE("whatif: a memory timeline alone is ranked by memory, and says so where it is not") {
  const std::string snapshot =
      FORETRACE_SOURCE_DIR "/examples/traces/h100_allocator/train.default.snapshot.pickle.gz";
  const Ran by_time = run_program("whatif " + snapshot);
  CHECK(by_time.code == 2);
  CHECK(holds(by_time.err, "expected --by memory"));
  CHECK_FALSE(holds(by_time.err, "--rank-all"));
  const Ran by_memory = run_program("whatif -q --by memory " + snapshot);
  CHECK(by_memory.code == 1);  // tensors of these sizes have no what-if
  CHECK(by_memory.out.starts_with("no what-if applies (of "));
  CHECK_FALSE(holds(by_memory.out, "CPU work"));
}

TEST_CASE(
    "explain: a word of an answer comes before a what-if of that alias, an option says where") {
  CHECK(run_program("explain host").out.starts_with("host: The CPU of a rank"));
  CHECK(run_program("explain 'late device work'").out.starts_with("late_device_work: "));
  const Ran option = run_program("explain without-one-off");
  CHECK(option.code == 0);
  CHECK(option.out.starts_with("--without-one-off: cut out long pauses"));
  CHECK(holds(option.out, "option of foretrace"));
  CHECK(holds(option.out, "whatif"));
  const Ran document = run_program("explain without-one-off --json");
  CHECK(document.code == 2);
  CHECK(holds(document.err, "is an option, which is explained as text alone"));
  const Ran unknown = run_program("explain withoutoneoff");
  CHECK(unknown.code == 2);
  CHECK(holds(unknown.err, "unknown name 'withoutoneoff'"));
}

}  // namespace foretrace::test
