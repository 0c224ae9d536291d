// A Kineto trace made up in memory: operators with shapes, launches, arrows, kernels, copies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace foretrace::bench {

/// Text of at least `bytes` bytes. Every call gives the same text.
[[nodiscard]] inline std::string synthetic_trace(std::size_t bytes) {
  constexpr std::array<std::string_view, 4> operators = {"aten::linear", "aten::addmm",
                                                         "aten::layer_norm", "aten::mul"};
  constexpr std::array<std::string_view, 3> kernels = {
      "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn",
      "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
      "float, at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 3> >(int, "
      "at::native::BinaryFunctor<float, float, float, "
      "at::native::binary_internal::MulFunctor<float>"
      " >, at::detail::Array<char*, 3>)",
      "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, "
      "float, float const*, float const*, float const*, float*, float*, float*)"};
  std::string text =
      "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": \"A100\"}],\n"
      "  \"distributedInfo\": {\"rank\": 0, \"world_size\": 1},\n  \"traceEvents\": [\n";
  text.reserve(bytes + 8192);
  auto out = std::back_inserter(text);
  std::uint64_t time_ns = 1'697'665'461'611'339'000ULL;
  const auto time = [](std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); };
  for (std::uint64_t i = 1; text.size() < bytes; ++i) {
    const std::uint64_t shape = 8 * (1 + i * 7 % 513);  // 513 different shapes
    const std::string_view kernel = kernels[i % kernels.size()];
    // An operator with shapes and one inside it, as profilers record them with record_shapes.
    for (std::uint64_t level = 0; level < 2; ++level) {
      fmt::format_to(
          out,
          "  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{}\", \"pid\": 1419017, "
          "\"tid\": 1419017,\n    \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      \"External "
          "id\": {},\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"\", \"1\"], \"Input "
          "type\": [\"c10::Half\", \"c10::Half\", \"Scalar\"], \"Input Dims\": [[{}, 1024], "
          "[1024, 4096], []], \"Ev Idx\": {}\n    }}\n  }},\n",
          operators[(i + level) % operators.size()], time(time_ns + level * 2100),
          time(21'733 - level * 4200), i, shape, i * 2 + level);
    }
    fmt::format_to(out,
                   "  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
                   "\"cudaLaunchKernel\", \"pid\": 1419017, \"tid\": 1419017,\n    \"ts\": {}, "
                   "\"dur\": {},\n    \"args\": {{\n      \"External id\": {}, \"cbid\": 211, "
                   "\"correlation\": {}\n    }}\n  }},\n",
                   time(time_ns + 9311), time(4120 + i % 700), i, i + 400);
    fmt::format_to(out,
                   "  {{\n    \"ph\": \"s\", \"id\": {}, \"pid\": 1419017, \"tid\": 1419017, "
                   "\"ts\": {},\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }},\n",
                   i + 400, time(time_ns + 9311));
    fmt::format_to(
        out,
        "  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{}\", \"pid\": 0, \"tid\": 7,\n "
        "   \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      \"External id\": {}, \"queued\": 0, "
        "\"device\": 0, \"context\": 1,\n      \"stream\": 7, \"correlation\": {},\n      "
        "\"registers per thread\": {}, \"shared memory\": 0,\n      \"blocks per SM\": {}.481481,\n"
        "      \"warps per SM\": {}.925926,\n      \"grid\": [{}, 1, 1],\n      \"block\": [128, "
        "1, "
        "1],\n      \"est. achieved occupancy %\": {}\n    }}\n  }},\n",
        kernel, time(time_ns + 15'000), time(12'001 + i % 9000), i, i + 400, 24 + i % 3 * 16,
        i % 40, i % 64, shape, i % 100);
    fmt::format_to(out,
                   "  {{\n    \"ph\": \"f\", \"id\": {}, \"pid\": 0, \"tid\": 7, \"ts\": {},\n    "
                   "\"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }},\n",
                   i + 400, time(time_ns + 15'000));
    time_ns += 25'000;
  }
  text += "  {\"name\": \"end\", \"ph\": \"M\", \"pid\": 0, \"tid\": 0, \"args\": {}}\n  ]\n}\n";
  return text;
}

}  // namespace foretrace::bench
