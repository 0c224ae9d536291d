#include "models/jobs/workloads/model_spec.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::find_model;
using foretrace::parse_model;

namespace {

std::string error_of(const std::string& members) {
  const auto model = parse_model(
      R"({"schema": "foretrace.model/1", "product": "x", "family": "transformer", "source": "test", )" +
          members + "}",
      "m.json");
  return model.ok() ? "" : model.error().message;
}

}  // namespace

TEST_CASE("model files: sizes that do not fit each other are refused with their place") {
  const std::string size = R"("layers": 2, "hidden": 64, "heads": 8, "vocabulary": 100)";
  CHECK(error_of(size) == "");
  CHECK(error_of(size + R"(, "kv_heads": 3)") ==
        "m.json: /kv_heads: got 3, expected a divisor of the 8 heads");
  const std::string odd = R"("layers": 2, "hidden": 64, "heads": 7, "vocabulary": 100)";
  CHECK(error_of(odd) ==
        "m.json: /heads: got 7, expected a divisor of hidden, which is 64, or head_size beside it");
  CHECK(error_of(odd + R"(, "head_size": 16)") == "");
  CHECK(error_of(size + R"(, "activation": "swigl")").find("did you mean 'swiglu'?") !=
        std::string::npos);
  CHECK(error_of(size + R"(, "experts": {"count": 4, "top_k": 5, "ffn": 32})") ==
        "m.json: /experts/top_k: got 5, expected at most the 4 experts");
  CHECK(error_of(size + R"(, "layerz": 3)").find("did you mean 'layers'?") != std::string::npos);
  CHECK(error_of(R"("layers": 2, "heads": 8, "vocabulary": 100)").find("/hidden: missing key") !=
        std::string::npos);
}

TEST_CASE("model files: an unknown name is told with the nearest") {
  CHECK(find_model(*foretrace::test::shipped(), "gpt3_175").error().message.find("gpt3_175b") !=
        std::string::npos);
}
