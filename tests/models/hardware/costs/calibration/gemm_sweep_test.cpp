#include "models/hardware/costs/calibration/gemm_sweep.h"

#include <random>
#include <string>

#include <doctest/doctest.h>

using foretrace::OperatorKind;
using foretrace::parse_gemm_sweep;
using foretrace::parse_operator_table;
using foretrace::Precision;

namespace {

std::string error_of(const std::string& text) {
  const auto read = parse_gemm_sweep(text, "a.csv");
  return read.ok() ? "" : read.error().message;
}

}  // namespace

TEST_CASE("gemm sweep: a CSV file has a product a row, in us, ms or by its rate") {
  const auto read = parse_operator_table(
      "m, n, k, dtype, batch, us\n4096,4096,8192,bf16,1,400\n128,128,64,fp16,32,9.5\n", "h100.csv");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->name == "h100");
  REQUIRE(read->rows.size() == 2);
  CHECK(read->rows[0].precision == Precision::bf16);
  CHECK(read->rows[0].kind == OperatorKind::gemm);
  CHECK(read->rows[0].shape.k == 8192);
  CHECK(read->rows[0].measured_ns == doctest::Approx(4e5));
  CHECK(read->rows[1].kind == OperatorKind::batched_gemm);
  CHECK(read->rows[1].shape.batch == 32);
  const auto slow = parse_gemm_sweep("M N K dtype ms\n8 8 8 fp32 0.5\n", "a.txt");
  CHECK(slow->rows[0].measured_ns == doctest::Approx(5e5));
  // 2 x 1000^3 operations at 2 TFLOP/s.
  const auto rate = parse_gemm_sweep("m,n,k,dtype,tflops\n1000,1000,1000,fp16,2\n", "a.csv");
  CHECK(rate->rows[0].measured_ns == doctest::Approx(1e6));
}

TEST_CASE("gemm sweep: rocblas-bench names the columns of every product") {
  const std::string one =
      "transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,rocblas-Gflops,us\n"
      "N,N,4096,4096,4096,1,4096,0,4096,4096,512345,268.2\n";
  const auto read = parse_gemm_sweep(
      "./rocblas-bench -f gemm_ex -r f16_r -m 4096\nrocBLAS info: Time for initialization: 1 ms\n" +
          one + "./rocblas-bench -f gemm_ex --a_type bf16_r\n" + one,
      "mi300x.log");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  REQUIRE(read->rows.size() == 2);
  CHECK(read->rows[0].precision == Precision::fp16);
  CHECK(read->rows[1].precision == Precision::bf16);
  CHECK(read->rows[1].measured_ns == doctest::Approx(268200));
}

TEST_CASE("gemm sweep: what is none is one line") {
  CHECK(error_of("hello").find("a.csv: no product, expected a line of column names") == 0);
  CHECK(error_of("m,n,k,us\n1,2,3,4\n") ==
        "a.csv:2: no data type, expected a column dtype, or an argument such as -r f16_r above");
  CHECK(error_of("m,n,k,dtype,us\n1,2,3,fp16,-4\n") ==
        "a.csv:2: got a cell that is no positive number, expected m, n, k, batch and time");
  CHECK(error_of("m,n,k,dtype,us\n1,2,3,fp17,4\n").find("a.csv:2: no data type") == 0);
}

TEST_CASE("gemm sweep: no damage crashes it, and times are positive") {
  std::mt19937_64 random(5);
  const std::string whole = "-r f16_r\nm,n,k,batch_count,us\n64,64,64,1,3.5\n64,128,64,2,4\n";
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (int edits = 0; edits < 3; ++edits) {
      text[random() % text.size()] = static_cast<char>(random());
      text.insert(random() % text.size(), whole, random() % whole.size(), random() % 9);
    }
    const auto read = parse_gemm_sweep(text, "a.csv");
    if (!read.ok()) continue;
    for (const auto& row : read->rows) CHECK(row.measured_ns > 0);
  }
}
