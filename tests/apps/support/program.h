// Runs the foretrace program as a user would.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretrace::test {

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

/// `arguments` as a shell reads them; the program runs in the top folder of the source tree, with
/// `variables` in its environment ("NAME=VALUE").
[[nodiscard]] Ran run_program(const std::string& arguments, const std::string& variables = {});

/// A file name in a scratch folder that is gone after the tests.
[[nodiscard]] std::string scratch_file(const std::string& name);

/// Every line is at most `width` characters wide and has no trailing space.
[[nodiscard]] std::string first_bad_line(const std::string& text, std::int64_t width = 100);

inline constexpr const char* demo_trace = "examples/traces/demo_generated_cnn.json.gz";

/// A page whose policy lets nothing through that is called unsafe but WebAssembly, its engine.
[[nodiscard]] inline bool allows_engine_alone(std::string_view page) {
  const auto first = page.find("unsafe");
  return first != std::string_view::npos && first == page.find("'wasm-unsafe-eval'") + 6 &&
         page.find("unsafe", first + 1) == std::string_view::npos;
}

}  // namespace foretrace::test
