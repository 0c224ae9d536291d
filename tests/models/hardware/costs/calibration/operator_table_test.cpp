#include "models/hardware/costs/calibration/operator_table.h"

#include <string>

#include <doctest/doctest.h>

using namespace foretrace;

namespace {

Result<OperatorTable> table(const std::string& id, const std::string& fixed,
                            const std::string& columns, const std::string& rows) {
  return parse_operator_table(R"({"schema": "foretrace-truth/1", "id": ")" + id +
                                  R"(", "fixed": )" + fixed + R"(, "columns": )" + columns +
                                  R"(, "rows": )" + rows + "}",
                              "table.json");
}

std::string error_of(const std::string& columns, const std::string& rows) {
  const auto read = table("gemm_x", "{}", columns, rows);
  REQUIRE_FALSE(read.ok());
  return read.error().message;
}

}  // namespace

TEST_CASE("operator table: products with a time in us or ms") {
  const auto read = table("gemm_mine", R"({"dtype": "fp16"})", R"(["m", "n", "k", "us"])",
                          "[[64, 128, 256, 7.5]]");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const OperatorRow& row = read->rows.front();
  CHECK(row.kind == OperatorKind::gemm);
  CHECK(row.precision == Precision::fp16);
  CHECK(row.shape.n == 128);
  CHECK(row.measured_ns == 7500);
  CHECK(row.device.empty());
}

TEST_CASE("operator table: one device per row, the operator in the name of the table") {
  const auto read =
      table("op_bmm_x", R"({"precision": "fp32"})", R"(["Device", "B", "M", "N", "K", "Latency"])",
            R"([["Tesla T4", 8, 16, 32, 64, 0.5]])");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->rows.front().kind == OperatorKind::batched_gemm);
  CHECK(read->rows.front().device == "Tesla T4");
  CHECK(read->rows.front().measured_ns == 500000);
  const auto rows = table("op_ln_x", "{}", R"(["Device", "B", "H", "Latency"])",
                          R"([["Tesla T4", 32, 1024, 0.1]])");
  REQUIRE_MESSAGE(rows.ok(), rows.error().message);
  CHECK(rows->rows.front().kind == OperatorKind::layer_norm);
  CHECK(rows->rows.front().shape.m == 32);
}

TEST_CASE("operator table: throughput in numbers per second becomes a time") {
  const auto read = table("x", R"({"dtype": "fp16"})", R"(["op", "m", "n", "value"])",
                          R"([["softmax", 4096, 1024, 100]])");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  // 4,194,304 numbers at 100 numbers per ns.
  CHECK(read->rows.front().measured_ns == doctest::Approx(41943.04));
}

TEST_CASE("operator table: the columns of a transformer layer become its products and rows") {
  const auto read =
      table("ops_x",
            R"({"dtype": "fp16", "dims": {"n_head": "4", "n_kv_head": "2", "n_embd": "64",
          "n_expanded_embd": "256"}})",
            R"(["tp", "tokens", "add", "attn_post_proj", "attn_pre_proj", "attn_rope", "emb",
          "input_layernorm", "mlp_act", "mlp_down_proj", "mlp_up_proj",
          "post_attention_layernorm"])",
            "[[2, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  REQUIRE(read->rows.size() == 10);
  const OperatorRow& projection = read->rows[0];  // attn_pre_proj
  CHECK(projection.shape.m == 10);
  CHECK(projection.shape.n == 16 * (4 + 2 * 2) / 2);  // head size 16, on two devices
  CHECK(projection.shape.k == 64);
  CHECK(projection.measured_ns == 3000);
}

TEST_CASE("operator table: what is no measurement is refused with its row") {
  CHECK(error_of(R"(["a", "b"])", "[[1, 2]]").starts_with("table.json: /columns: got a, b"));
  CHECK(error_of(R"(["m", "n", "k", "us"])", "[[1, 2, 3, 4], [1, 2, 3, 0]]") ==
        "table.json: /rows/1: column 'us': got the number 0, expected a positive number");
  CHECK(error_of(R"(["m", "n", "k", "us"])", R"([[1, 2, "x", 4]])") ==
        "table.json: /rows/0: column 'k': got 'x', expected a positive number");
  CHECK(error_of(R"(["m", "n", "k", "us"])", "[[1, 2, 3]]")
            .starts_with("table.json: /rows/0: got a list"));
  CHECK(error_of(R"(["op", "m", "n", "value"])", R"([["soft", 2, 3, 4]])")
            .find("unknown operator 'soft'") != std::string::npos);
  CHECK(error_of(R"(["m", "n", "k", "us"])", R"({"a": 1})").find("no table") != std::string::npos);
  CHECK_FALSE(read_operator_table("no such file").ok());
}
