#include "trace/formats/common/protobuf_wire.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace::trace::formats {
namespace {

using namespace std::string_literals;

// Field numbers and wire types: key = number * 8 + type.

TEST_CASE("protobuf wire: every wire type is read") {
  // 1: varint 300 = AC 02; 2: "hi"; 3: fixed32 1.0f; 4: fixed64 -2.0; 5: sint -1 = zigzag 1
  const std::string text =
      "\x08\xAC\x02\x12\x02hi\x1D\x00\x00\x80\x3F\x21\x00\x00\x00\x00\x00\x00\x00\xC0\x28\x01"s;
  WireReader fields(text, 100);
  REQUIRE(fields.next());
  CHECK(fields->number == 1);
  CHECK(fields->value == 300);
  CHECK(fields->offset == 100);
  REQUIRE(fields.next());
  CHECK(fields->type == WireType::bytes);
  CHECK(fields->bytes == "hi");
  CHECK(fields.message().offset() == 105);  // behind 3 bytes of field 1, the key and the length
  REQUIRE(fields.next());
  CHECK(fields->as_float() == doctest::Approx(1.0));
  REQUIRE(fields.next());
  CHECK(fields->as_double() == doctest::Approx(-2.0));
  REQUIRE(fields.next());
  CHECK(fields->as_zigzag() == -1);
  CHECK_FALSE(fields.next());
  CHECK(fields.trouble().empty());
}

TEST_CASE("protobuf wire: a negative int64 takes ten bytes") {
  const std::string text = "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s;
  WireReader fields(text);
  REQUIRE(fields.next());
  CHECK(fields->as_signed() == -1);
}

TEST_CASE("protobuf wire: damage ends the message with its reason") {
  const auto trouble = [](std::string_view text) {
    WireReader fields(text);
    while (fields.next()) {
    }
    return fields.trouble();
  };
  CHECK(trouble("\x08\x80"s) == "a number without an end");
  CHECK(trouble("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"s) == "a number without an end");
  // a length of 2^63 bytes
  CHECK(trouble("\x12\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s) ==
        "a field of 9223372036854775808 bytes where 0 are left");
  CHECK(trouble("\x12\x05hi"s) == "a field of 5 bytes where 2 are left");
  CHECK(trouble("\x1D\x01"s) == "a number of 4 bytes where 1 are left");
  CHECK(trouble("\x0B"s) == "a field of the unknown wire type 3");
  CHECK(trouble("\x00\x01"s) == "a field with the number 0");
  CHECK(trouble("") == "");
}

TEST_CASE("protobuf wire: repeated numbers are read packed and one by one") {
  std::vector<std::uint64_t> numbers;
  CHECK(append_varints({.number = 4, .type = WireType::varint, .value = 7, .bytes = {}}, numbers));
  const std::string packed = "\x01\xAC\x02"s;
  CHECK(
      append_varints({.number = 4, .type = WireType::bytes, .value = 0, .bytes = packed}, numbers));
  CHECK(numbers == std::vector<std::uint64_t>{7, 1, 300});
  CHECK_FALSE(
      append_varints({.number = 4, .type = WireType::bytes, .value = 0, .bytes = "\x80"}, numbers));
}

TEST_CASE("protobuf wire: a stream gives its messages in order with their offsets") {
  // Messages of 3, 0 and 300,000 bytes, so that one is longer than a piece that is read at once.
  const std::string big(300000, 'x');
  const std::string text = "\x03"s + "abc" + "\x00"s + "\xE0\xA7\x12"s + big;
  const auto source = open_memory(text, "t.et");
  MessageStream stream(*source);
  REQUIRE(stream.next() == MessageStream::Outcome::message);
  CHECK(stream.message() == "abc");
  CHECK(stream.offset() == 1);
  REQUIRE(stream.next() == MessageStream::Outcome::message);
  CHECK(stream.message().empty());
  REQUIRE(stream.next() == MessageStream::Outcome::message);
  CHECK(stream.offset() == 8);
  CHECK(stream.message() == big);
  CHECK(stream.next() == MessageStream::Outcome::end);
  CHECK(stream.bytes() == text.size());
}

TEST_CASE("protobuf wire: a stream that breaks off or lies about lengths says so") {
  const auto last = [](const std::string& text) {
    const auto source = open_memory(text, "t.et");
    MessageStream stream(*source);
    MessageStream::Outcome outcome = MessageStream::Outcome::message;
    while (outcome == MessageStream::Outcome::message) {
      outcome = stream.next();
    }
    return outcome;
  };
  CHECK(last("\x03"s + "ab") == MessageStream::Outcome::cut_off);
  CHECK(last("\x03"s + "abc" + "\x80"s) == MessageStream::Outcome::cut_off);
  CHECK(last("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s) == MessageStream::Outcome::too_long);
  CHECK(last(std::string(12, '\xFF')) == MessageStream::Outcome::no_length);
}

}  // namespace
}  // namespace foretrace::trace::formats
