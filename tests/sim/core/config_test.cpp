#include "sim/core/config.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using foretrace::ConfigFields;
using foretrace::ConfigValue;
using foretrace::ParamType;
using foretrace::parse_config;
using foretrace::read_config;

namespace {

// A file that is gone when the test ends.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() /
               fmt::format("foretrace_config_{}.json", count++))
                  .string()) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  static inline int count = 0;
  std::string path_;
};

std::string parse_error(const std::string& text) {
  auto value = parse_config(text);
  REQUIRE_FALSE(value.ok());
  return value.error().message;
}

std::string file_error(const std::string& text) {
  const TemporaryFile file(text);
  auto value = read_config(file.path(), "foretrace.toy/1");
  REQUIRE_FALSE(value.ok());
  std::string message = value.error().message;
  REQUIRE(message.starts_with(file.path()));
  return message.substr(file.path().size());
}

struct Toy {
  std::string name;
  double memory = -1;
  double lanes = -1;
};

// What a reader of ours does with an object.
std::string toy_error(const std::string& text, Toy& toy) {
  auto value = parse_config(text);
  REQUIRE_MESSAGE(value.ok(), value.error().message);
  ConfigFields fields(*value, "toy.json");
  fields.text("name", toy.name);
  fields.quantity("memory", ParamType::bytes, toy.memory);
  fields.optional_quantity("lanes", ParamType::integer, toy.lanes);
  auto status = fields.finish();
  return status ? "" : status.error().message;
}

}  // namespace

TEST_CASE("config: values keep their text and the order of the file") {
  auto value = parse_config(R"({"b": 1.50, "a": ["x", true, null], /* why */ "c": {}})");
  REQUIRE(value.ok());
  CHECK(value->keys == std::vector<std::string>{"b", "a", "c"});
  CHECK(value->find("b")->text == "1.50");
  CHECK(value->find("a")->items.size() == 3);
  CHECK(value->find("a")->items[2].kind == ConfigValue::Kind::null);
  CHECK(value->find("z") == nullptr);
}

TEST_CASE("config: broken JSON is answered with the place") {
  CHECK(parse_error("{\"a\": }").starts_with("parse error at line 1, column 7"));
  CHECK(parse_error("").starts_with("parse error at line 1, column 1"));
  CHECK(parse_error("{\"a\": 1} x").starts_with("parse error at line 1, column 10"));
  CHECK(parse_error("{\"a\": 1, \"a\": 2}") == "key 'a' twice in one object, expected it once");
  CHECK(parse_error("{\"a\": \"\xff\"}").find("UTF-8") != std::string::npos);
  CHECK(parse_error(std::string("\x00\x01\x02", 3)).find('\x01') == std::string::npos);
  CHECK(parse_error("\"" + std::string(1000000, 'a')).size() < 400);
  CHECK(parse_error("{\"a\": 1e999}").find("number overflow") != std::string::npos);
}

TEST_CASE("config: a million levels of nesting are refused, not overflowed") {
  CHECK(parse_error(std::string(1000000, '[')) == "more than 64 levels of nesting");
}

TEST_CASE("config: an object without end is refused, one with many keys is read") {
  const auto object_of = [](int keys) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":1";
    return text + "}";
  };
  CHECK(parse_config(object_of(1000)).ok());
  const auto refused = parse_config(object_of(100'000));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message == "more than 1000 keys in one object");
}

TEST_CASE("config: a message is one line, whatever keys hold") {
  const auto root = parse_config(R"({"a\nb\u0007": 5})");
  REQUIRE(root.ok());
  ConfigFields fields(*root, "f.json", "/sources");
  std::string text;
  fields.text("a\nb\a", text);
  const foretrace::Status finished = fields.finish();
  REQUIRE_FALSE(finished.ok());
  CHECK(finished.error().message ==
        R"(f.json: /sources/a\x0ab\x07: got the number 5, expected a text)");
}

TEST_CASE("config: files must exist, be files and name the schema") {
  CHECK(read_config("/nowhere/x.json", "foretrace.toy/1").error().message ==
        "/nowhere/x.json: no such file");
  CHECK(read_config("/", "foretrace.toy/1").error().message ==
        "/: is a directory, expected a JSON file");
  CHECK(file_error("[1]") ==
        ": got a list, expected an object with \"schema\": \"foretrace.toy/1\"");
  CHECK(file_error("{}") == ": /schema: missing key, expected \"foretrace.toy/1\"");
  CHECK(file_error(R"({"schema": "foretrace.toy/2"})") ==
        ": /schema: got 'foretrace.toy/2', expected \"foretrace.toy/1\" (this program reads no "
        "other version)");
  CHECK(file_error(R"({"schema": 1})") ==
        ": /schema: got the number 1, expected \"foretrace.toy/1\"");
  CHECK(file_error(std::string((std::size_t{16} << 20) + 1, ' ')) ==
        ": is larger than 16 MiB, expected a config file");
}

TEST_CASE("config: keys are taken by name, type and unit") {
  Toy toy;
  CHECK(toy_error(R"({"schema": "s", "name": "x", "memory": "2 GiB"})", toy).empty());
  CHECK(toy.name == "x");
  CHECK(toy.memory == 2147483648.0);
  CHECK(toy.lanes == -1);
}

TEST_CASE("config: mistakes name file, pointer, what was got and what is expected") {
  Toy toy;
  CHECK(toy_error(R"({"name": "x", "memory": 80})", toy) ==
        "toy.json: /memory: got the number 80, expected a size such as '80 GiB' (units B, kB, MB, "
        "GB, TB, KiB, MiB, GiB, TiB)");
  CHECK(toy_error(R"({"name": "x", "memory": "80"})", toy)
            .starts_with("toy.json: /memory: got '80' without a unit, expected a size"));
  CHECK(toy_error(R"({"name": 5, "memory": "80 GB"})", toy) ==
        "toy.json: /name: got the number 5, expected a text");
  CHECK(toy_error(R"({"name": "x"})", toy)
            .starts_with("toy.json: /memory: missing key, expected a size such as '80 GiB'"));
  CHECK(toy_error(R"({"name": "x", "memory": "1 B", "lanes": "4"})", toy) ==
        "toy.json: /lanes: got '4', expected a whole number such as '4' without quotes");
}

TEST_CASE("config: an unknown key is named before the key that is missing for it") {
  Toy toy;
  CHECK(toy_error(R"({"name": "x", "memroy": "80 GB"})", toy) ==
        "toy.json: '/memroy': unknown key (did you mean 'memory'?), expected one of schema, name, "
        "memory, lanes");
}
