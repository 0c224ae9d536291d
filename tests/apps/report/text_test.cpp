#include "apps/report/text.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include <doctest/doctest.h>

namespace foretrace::report {
namespace {

TEST_CASE("times of one page have the decimals of its scale") {
  CHECK(time_text(176'273'000) == "176.3 ms");
  CHECK(time_text(4'426'000) == "4.426 ms");
  CHECK(time_text(50'581'044) == "50.58 ms");
  CHECK(time_text(91'300) == "91.3 us");
  CHECK(time_text(2'136'800'000) == "2.137 s");
  CHECK(time_text(3'358'542'500'000) == "3358.5 s");
  CHECK(time_text(13'336'300'000) == "13.34 s");
}

TEST_CASE("what takes time is not shown as taking none") {
  CHECK(time_text(40'000, 176'000'000) == "40.0 us");
  CHECK(time_text(91, 43'000'000'000) == "91 ns");
  CHECK(time_text(0, 176'000'000) == "0.0 ms");
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto draw = [&] { return static_cast<std::int64_t>(random() >> (random() % 62)); };
    const std::string text = time_text(std::max<std::int64_t>(1, draw()), draw());
    CHECK_MESSAGE(text.find_first_of("123456789") != std::string::npos, text);
  }
}

TEST_CASE("two figures side by side differ where their values do") {
  CHECK(bytes_range_text(13'970'000'000, 13'990'000'000) == "13.01 .. 13.03 GiB");
  CHECK(bytes_range_text(1024, 1024) == "1.0 .. 1.0 KiB");
  CHECK(bytes_text(std::int64_t{3} << 40) == "3.0 TiB");
  CHECK(time_ends(50'931'000, 50'934'000, 50'000'000).low == "50.931 ms");
  std::mt19937_64 random(11);
  for (int i = 0; i < 4000; ++i) {
    // Near each other and far from each other, small and large.
    const auto low = static_cast<std::int64_t>(random() >> (12 + random() % 50));
    const auto high = low + static_cast<std::int64_t>(random() >> (12 + random() % 50));
    const auto scale = static_cast<std::int64_t>(random() >> (2 + random() % 60));
    for (const Ends& ends : {bytes_ends(low, high), time_ends(low, high, scale)}) {
      CHECK_MESSAGE((ends.low == ends.high) == (low == high), low, " ", high, " ", ends.low);
    }
  }
}

TEST_CASE("the colour of a change says whether it is less") {
  const TextStyle style{.colour = true};
  CHECK(style.change("-60.0 %") == "\033[32m-60.0 %\033[0m");
  CHECK(style.change("+1.2 GiB") == "\033[31m+1.2 GiB\033[0m");
  CHECK(style.change("same") == "same");
  CHECK(TextStyle{}.change("-60.0 %") == "-60.0 %");
}

TEST_CASE("small shares keep two decimals, zero has no sign") {
  CHECK(signed_percent_text(-0.0021) == "-0.21 %");
  CHECK(signed_percent_text(0.084) == "+8.4 %");
  CHECK(signed_percent_text(-0.00001) == "0.00 %");
  CHECK(percent_text(0.5) == "50.0 %");
}

TEST_CASE("counts are grouped by thousands and words follow them") {
  CHECK(count_text(7) == "7");
  CHECK(count_text(1'234'567) == "1,234,567");
  CHECK(plural(1, "step") == "1 step");
  CHECK(plural(1021, "entry") == "1,021 entries");
}

TEST_CASE("a long text loses its middle, whole characters only") {
  CHECK(shorten("abcdefghijklmnop", 11) == "abcd...mnop");
  CHECK(shorten("short", 11) == "short");
  CHECK(shorten("\xC3\xA4\xC3\xA4\xC3\xA4", 3) == "\xC3\xA4\xC3\xA4\xC3\xA4");
  CHECK(shorten("a\nb\x1b", 10) == "a?b?");
}

TEST_CASE("rates keep digits where they are small") {
  CHECK(rate_text(75718.3) == "75,718");
  CHECK(rate_text(10.94) == "10.9");
  CHECK(rate_text(999.7) == "1,000");
  CHECK(rate_text(4.1666) == "4.17");
  CHECK(rate_text(0.0412) == "0.0412");
  CHECK(rate_text(2.5e-6) == "0.00000250");
  CHECK(rate_text(0) == "0");
  CHECK(rate_text(75718.34, 1) == "75718.3");
  CHECK(rate_text(0.0412, 1) == "0.0412");
}

TEST_CASE("device functions lose return type, arguments, lambdas and framework namespaces") {
  CHECK(function_text(
            "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, "
            "at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>, "
            "at::detail::Array<char*, 3>)") ==
        "vectorized_elementwise_kernel<4, AddFunctor<float>>");
  CHECK(function_text(
            "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
            "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::"
            "operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, "
            "x const&)::{lambda(int)#1}>(int)") ==
        "elementwise_kernel<128, 2, gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>");
  CHECK(function_text("void at::native::(anonymous namespace)::f<float, (kind_t)0>(int)") ==
        "f<float, (kind_t)0>");
}

TEST_CASE("names that are no function stay as they are") {
  CHECK(function_text("volta_sgemm_128x64_nn") == "volta_sgemm_128x64_nn");
  CHECK(function_text("Memcpy HtoD (Pageable -> Device)") == "Memcpy HtoD (Pageable -> Device)");
  CHECK(function_text("broken(") == "broken(");
}

TEST_CASE("a paragraph hangs below its first word and stays on the page") {
  const std::string text = paragraph("  - ", std::string(60, 'a') + " " + std::string(50, 'b'));
  CHECK(text == "  - " + std::string(60, 'a') + "\n    " + std::string(50, 'b') + "\n");
}

TEST_CASE("bold and warnings are for terminals that want them") {
  const TextStyle plain;
  const TextStyle coloured{.colour = true};
  CHECK(plain.strong("a") == "a");
  CHECK(coloured.strong("a") == "\033[1ma\033[0m");
  CHECK(coloured.warning("a") == "\033[33ma\033[0m");
}

}  // namespace
}  // namespace foretrace::report
