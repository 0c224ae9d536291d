// Every what-if that puts kernels in the place of others, on a run with three streams: the first
// kernel of the group waits for a collective, and others wait for the first and the last of it.
#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/models/text_run.h"
#include "tests/models/whatifs/replacing.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& attention_backend;
extern const WhatIfInfo& bppsa;
extern const WhatIfInfo& compiled_region;
extern const WhatIfInfo& cortex;
extern const WhatIfInfo& data_movement;
extern const WhatIfInfo& dynamic_batching;
extern const WhatIfInfo& eight_bit_optimizer;
extern const WhatIfInfo& flash_attention;
extern const WhatIfInfo& fused_optimizer;
extern const WhatIfInfo& fusion_aware_checkpointing;
extern const WhatIfInfo& horizontal_fusion;
extern const WhatIfInfo& hypergraph_fusion;
extern const WhatIfInfo& kernel_fusion;
extern const WhatIfInfo& metaflow_rules;
extern const WhatIfInfo& offload_pattern;
extern const WhatIfInfo& sparse_convolution;
extern const WhatIfInfo& whole_program_fusion;
}  // namespace foretrace::what_ifs

using namespace foretrace;
using test::Given;
using test::NamedGraph;

namespace {

struct Case {
  const WhatIfInfo* info = nullptr;
  std::string_view given = {};    ///< "key=value key=value"
  std::string_view kernels = {};  ///< in launch order on one stream
  std::size_t waits = 0;          ///< the kernel that waits for the collective
  std::string_view after = {};    ///< the graph after the what-if, waits as recorded
  bool on_a100 = false;
  std::string_view call = "l";
};

std::vector<std::string> words(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

Given given_of(const Case& tried) {
  Given given;
  for (const std::string& word : words(tried.given)) {
    const std::size_t at = word.find('=');
    given.emplace_back(word.substr(0, at), word.substr(at + 1));
  }
  return given;
}

/// Whether waits are recorded, or inferred as rules about the streams.
enum class Waits : std::uint8_t { recorded, inferred };

std::string text_of(const Case& tried, Waits waits) {
  const bool recorded = waits == Waits::recorded;
  std::string text = "h:l0(5000) s2:ar0(1000000)=collective<l0";
  const std::vector<std::string> kernels = words(tried.kernels);
  const auto launch = [&](std::size_t i) {
    return std::string(tried.call) + std::to_string(i + 1);
  };
  const auto name = [&](std::size_t i) { return kernels[i] + std::to_string(i + 1); };
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    text += " h:" + launch(i) + "(5000,2000) s:" + name(i) + "(30000)<" + launch(i) + "+1000";
    if (i == tried.waits) text += recorded ? "<ar0" : "~s2";
  }
  // m waits for what the stream had when the second kernel of the group was launched.
  const std::string first = recorded ? "<" + name(tried.waits) : "~s@" + launch(tried.waits + 1);
  const std::string last = recorded ? "<" + name(kernels.size() - 1) : "~s";
  text += " h:lm(5000) s3:m(7000)<lm" + first + " h:ln(5000) s3:n(7000)<ln" + last + " h:end(0)~*";
  return text;
}

const std::array cases = {
    Case{.info = &what_ifs::kernel_fusion,
         .kernels = "relu relu relu relu",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_fused_kernel_of_4(5000,3200) "
                  "s:fused_kernel_of_4(30000)<launch_of_fused_kernel_of_4+1000<ar0 h:lm(5000) "
                  "s3:m(7000)<lm<fused_kernel_of_4 h:ln(5000) s3:n(7000)<ln<fused_kernel_of_4 "
                  "h:end(0)~ar0~fused_kernel_of_4~n"},
    Case{.info = &what_ifs::whole_program_fusion,
         .kernels = "relu norm relu norm",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_fused_region(5000,3200) "
                  "s:fused_region(46575)<launch_of_fused_region+1000<ar0 h:lm(5000) "
                  "s3:m(7000)<lm<fused_region h:ln(5000) s3:n(7000)<ln<fused_region "
                  "h:end(0)~ar0~fused_region~n"},
    Case{.info = &what_ifs::data_movement,
         .kernels = "relu relu relu relu",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_fused_chain(5000,3200) "
                  "s:fused_chain(30000)<launch_of_fused_chain+1000<ar0 h:lm(5000) "
                  "s3:m(7000)<lm<fused_chain h:ln(5000) s3:n(7000)<ln<fused_chain "
                  "h:end(0)~ar0~fused_chain~n"},
    Case{.info = &what_ifs::fusion_aware_checkpointing,
         .kernels = "gelu gelu gemm dgemm dgelu dgelu",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_fused_chain(5000,2400) "
                  "s:fused_chain(30000)<launch_of_fused_chain+1000<ar0 h:l3(5000,2000) "
                  "s:gemm3(30000)<l3+1000 h:l4(5000,2000) s:dgemm4(30000)<l4+1000 "
                  "h:launch_of_fused_backward_chain(5000,2400) "
                  "s:fused_backward_chain(30000)<launch_of_fused_backward_chain+1000 h:lm(5000) "
                  "s3:m(7000)<lm<fused_chain h:ln(5000) s3:n(7000)<ln<fused_backward_chain "
                  "h:end(0)~ar0~fused_backward_chain~n"},
    Case{.info = &what_ifs::flash_attention,
         .kernels = "scores softmax drop values",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_flash_attention(5000,2000) "
                  "s:flash_attention(60000)<launch_of_flash_attention+1000<ar0 h:lm(5000) "
                  "s3:m(7000)<lm<flash_attention h:ln(5000) s3:n(7000)<ln<flash_attention "
                  "h:end(0)~ar0~flash_attention~n"},
    Case{.info = &what_ifs::attention_backend,
         .given = "backend=flash2",
         .kernels = "scores softmax drop values",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_flash2_attention(5000,2000) "
                  "s:flash2_attention(48707,1200)<launch_of_flash2_attention+1000<ar0 h:lm(5000) "
                  "s3:m(7000)<lm<flash2_attention h:ln(5000) s3:n(7000)<ln<flash2_attention "
                  "h:end(0)~ar0~flash2_attention~n",
         .on_a100 = true},
    Case{.info = &what_ifs::compiled_region,
         .given = "module=. guard=0us",
         .kernels = "relu relu relu relu",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_compiled_kernel_of_4(5000,3200) "
                  "s:compiled_kernel_of_4(30000)<launch_of_compiled_kernel_of_4+1000<ar0 "
                  "h:lm(5000) s3:m(7000)<lm<compiled_kernel_of_4 h:ln(5000) "
                  "s3:n(7000)<ln<compiled_kernel_of_4 h:end(0)~ar0~compiled_kernel_of_4~n"},
    Case{.info = &what_ifs::cortex,
         .given = "levels=2",
         .kernels = "gemm relu gemm relu",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_level_of_the_recursion(5000,2000) "
                  "s:level_of_the_recursion(61200)<launch_of_level_of_the_recursion+1000<ar0 "
                  "h:launch_of_level_of_the_recursion(5000,2000) "
                  "s:level_of_the_recursion(61200)<launch_of_level_of_the_recursion+1000 "
                  "h:lm(5000) s3:m(7000)<lm<level_of_the_recursion h:ln(5000) "
                  "s3:n(7000)<ln<level_of_the_recursion h:end(0)~ar0~level_of_the_recursion~n"},
    Case{.info = &what_ifs::horizontal_fusion,
         .given = "a=name~gemm b=name~index",
         .kernels = "gemm index",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_horizontally_fused_pair(5000,2000) "
                  "s:horizontally_fused_pair(34200)<launch_of_horizontally_fused_pair<ar0 "
                  "h:lm(5000) s3:m(7000)<lm<horizontally_fused_pair h:ln(5000) "
                  "s3:n(7000)<ln<horizontally_fused_pair h:end(0)~ar0~horizontally_fused_pair~n"},
    Case{.info = &what_ifs::hypergraph_fusion,
         .kernels = "spmm tspmm",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_fused_message_passing(5000,2000) "
                  "s:fused_message_passing(39630)<launch_of_fused_message_passing<ar0 h:lm(5000) "
                  "s3:m(7000)<lm<fused_message_passing h:ln(5000) "
                  "s3:n(7000)<ln<fused_message_passing h:end(0)~ar0~fused_message_passing~n"},
    Case{.info = &what_ifs::metaflow_rules,
         .kernels = "q k v",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_merged_product(5000,2400) "
                  "s:merged_product(84662,1200)<launch_of_merged_product+1000<ar0 h:lm(5000) "
                  "s3:m(7000)<lm<merged_product h:ln(5000) s3:n(7000)<ln<merged_product "
                  "h:end(0)~ar0~merged_product~n",
         .on_a100 = true},
    Case{.info = &what_ifs::offload_pattern,
         .given = "patterns=example device=ipu_mk2 bandwidth=16GB/s precision=fp16",
         .kernels = "gemm relu gemm relu",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 "
                  "h:launch_of_copy_in_for_offload(5000,2000) "
                  "s:copy_in_for_offload(12048)<launch_of_copy_in_for_offload+1000<ar0 "
                  "h:launch_of_offloaded_product_and_activation(5000) "
                  "ipu_mk2:offloaded_product_and_activation(761)<launch_of_offloaded_product_and_"
                  "activation+1000<copy_in_for_offload "
                  "h:launch_of_offloaded_product_and_activation(5000) "
                  "ipu_mk2:offloaded_product_and_activation(761)<launch_of_offloaded_product_and_"
                  "activation+1000 "
                  "h:launch_of_copy_out_after_offload(5000) "
                  "s:copy_out_after_offload(260000)<launch_of_copy_out_after_offload+1000<"
                  "offloaded_product_and_activation "
                  "h:lm(5000) s3:m(7000)<lm<copy_out_after_offload h:ln(5000) "
                  "s3:n(7000)<ln<copy_out_after_offload "
                  "h:end(0)~ar0~copy_out_after_offload~offloaded_product_and_activation~n"},
    Case{.info = &what_ifs::bppsa,
         .given = "select=phase=backward combine=1",
         .kernels = "gemm dgemm dgemm dgemm dgemm dgemm dgemm dgemm",
         .waits = 1,
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:l1(5000,2000) s:gemm1(30000)<l1+1000 "
                  "h:launch_of_level_of_the_scan(5000,2000) "
                  "s:level_of_the_scan(30000)<launch_of_level_of_the_scan+1000<ar0 "
                  "h:launch_of_level_of_the_scan(5000,2000) "
                  "s:level_of_the_scan(30000)<launch_of_level_of_the_scan+1000 "
                  "h:launch_of_level_of_the_scan(5000,2000) "
                  "s:level_of_the_scan(30000)<launch_of_level_of_the_scan+1000 "
                  "h:launch_of_level_of_the_scan(5000,2000) "
                  "s:level_of_the_scan(30000)<launch_of_level_of_the_scan+1000 "
                  "h:launch_of_level_of_the_scan(5000,2000) "
                  "s:level_of_the_scan(30000)<launch_of_level_of_the_scan+1000 h:lm(5000) "
                  "s3:m(7000)<lm<level_of_the_scan h:ln(5000) s3:n(7000)<ln<level_of_the_scan "
                  "h:end(0)~ar0~level_of_the_scan~n"},
    Case{.info = &what_ifs::dynamic_batching,
         .given = "samples=2 gather=0",
         .kernels = "gemm relu gemm relu",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_batched_kernel(5000,2000) "
                  "s:batched_kernel(55800)<launch_of_batched_kernel+1000<ar0 "
                  "h:launch_of_batched_kernel(5000,2000) "
                  "s:batched_kernel(58200)<launch_of_batched_kernel+1000 h:lm(5000) "
                  "s3:m(7000)<lm<batched_kernel h:ln(5000) s3:n(7000)<ln<batched_kernel "
                  "h:end(0)~ar0~batched_kernel~n"},
    Case{.info = &what_ifs::eight_bit_optimizer,
         .kernels = "mul mul sqrt div",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_8-bit_update(5000,2000) "
                  "s:8-bit_update(58200)<launch_of_8-bit_update+1000<ar0 h:lm(5000) "
                  "s3:m(7000)<lm<8-bit_update h:ln(5000) s3:n(7000)<ln<8-bit_update "
                  "h:end(0)~ar0~8-bit_update~n",
         .call = "u"},
    Case{.info = &what_ifs::fused_optimizer,
         .given = "tensors_per_launch=0",
         .kernels = "mul div mul div",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_the_fused_update(5000,2600) "
                  "s:multi-tensor_update(120000)<launch_of_the_fused_update+1000<ar0 h:lm(5000) "
                  "s3:m(7000)<lm<multi-tensor_update h:ln(5000) s3:n(7000)<ln<multi-tensor_update "
                  "h:end(0)~ar0~multi-tensor_update~n",
         .call = "u"},
    Case{.info = &what_ifs::sparse_convolution,
         .given = "density=1 mode=points",
         .kernels = "gather gemm scatter gather gemm scatter",
         .after = "h:l0(5000) s2:ar0(1000000)<l0 h:launch_of_grouped_gather(5000,2000) "
                  "s:grouped_gather(30900)<launch_of_grouped_gather+1000<ar0 "
                  "h:launch_of_grouped_product(5000,2000) "
                  "s:grouped_product(60000)<launch_of_grouped_product+1000 "
                  "h:launch_of_grouped_scatter(5000,2000) "
                  "s:grouped_scatter(30900)<launch_of_grouped_scatter+1000 h:lm(5000) "
                  "s3:m(7000)<lm<grouped_gather h:ln(5000) s3:n(7000)<ln<grouped_scatter "
                  "h:end(0)~ar0~grouped_scatter~n"},
};

NamedGraph changed(const Case& tried, Waits waits) {
  const Accelerator a100 = test::toy_accelerator();
  return test::after(test::text_run(text_of(tried, waits)), *tried.info, given_of(tried),
                     tried.on_a100 ? &a100 : nullptr);
}

}  // namespace

TEST_CASE("replaced kernels: every what-if that replaces kernels is among those below") {
  std::vector<std::string_view> names;
  for (const Case& tried : cases) names.push_back(tried.info->name);
  std::sort(names.begin(), names.end());
  CHECK(std::equal(names.begin(), names.end(), test::replacing_what_ifs.begin(),
                   test::replacing_what_ifs.end()));
}

TEST_CASE("replaced kernels: the graph before and after, with recorded waits") {
  for (const Case& tried : cases) {
    CAPTURE(std::string(tried.info->name));
    CHECK(test::to_text(changed(tried, Waits::recorded)) == tried.after);
  }
}

TEST_CASE("replaced kernels: new ones start after the collective, and others after them") {
  for (const Waits waits : {Waits::recorded, Waits::inferred}) {
    CAPTURE(static_cast<int>(waits));
    for (const Case& tried : cases) {
      CAPTURE(std::string(tried.info->name));
      const NamedGraph after = changed(tried, waits);
      CAPTURE(test::to_text(after));
      const Timeline timeline = simulate(after.graph);
      const std::int64_t collective_ns = timeline.end_ns(test::task(after, "ar0"));
      REQUIRE(collective_ns == 1005000);
      std::int64_t first_ns = 0;
      std::int64_t last_ns = 0;
      std::size_t found = 0;
      for (std::size_t t = 0; t < after.graph.size(); ++t) {
        const auto task = make_id<TaskId>(t);
        // New kernels alone have a name with blanks, or a recorded kernel's with none.
        const bool is_new = after.graph.kind(task) == TaskKind::kernel &&
                            after.graph.provenance(task) != Provenance::measured;
        if (!is_new) continue;
        if (found++ == 0) first_ns = timeline.end_ns(task);
        last_ns = timeline.end_ns(task);
        CHECK(timeline.start_ns(task) >= collective_ns);
      }
      REQUIRE(found > 0);
      CHECK(timeline.start_ns(test::task(after, "m")) >= first_ns);
      CHECK(timeline.start_ns(test::task(after, "n")) >= last_ns);
    }
  }
}
