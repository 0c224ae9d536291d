#include "trace/formats/common/describe_format.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace foretrace::trace::formats {
namespace {

TEST_CASE("describe: what is no trace is called by its name") {
  struct Case {
    std::string bytes;
    std::string_view expected;
  };
  const Case cases[] = {
      {std::string("\x80\x04\x95\x10\0\0\0\0\0\0\0}", 12), "a Python pickle"},
      {std::string("\x80\x02}q\0.", 6), "a Python pickle"},
      {"PK\x03\x04 and so on", "a zip archive"},
      {"7z\xBC\xAF\x27\x1C", "a 7-Zip archive"},
      {"\x28\xB5\x2F\xFD", "compressed with zstd"},
      {"\x04\x22\x4D\x18", "compressed with lz4"},
      {"\x7F"
       "ELF\x02",
       "a program or library"},
      {std::string("MZ\x90\0", 4), "a program or library"},
      {"\x89PNG\r\n", "a picture"},
      {"\xFF\xD8\xFF\xE0", "a picture"},
      {"%PDF-1.4", "a PDF document"},
      {"PAR1\x15", "a Parquet table"},
      {"\x89HDF\r\n\x1A\n", "an HDF5 file"},
      {"\x93NUMPY", "a NumPy array"},
      {std::string("NVR\0\x01", 5), "a report of Nsight Compute"},
      {std::string("\x01\0\0QuadDCommon", 14), "a report of Nsight Systems: export it first"},
      {"<!DOCTYPE html><html>", "a web page"},
      {"<!doctype html>", "a web page"},
      {"<?xml version=\"1.0\"?>", "an XML document"},
      {"step,loss,time\n1,2,3\n", "a table with commas (csv)"},
      {"\n\n# a program", "text that starts with '# a program'"},
      {"Traceback (most recent call last):", "text that starts with 'Traceback"},
      {std::string("\x01\x02\x03\x80", 4), "binary data"},
      {"{}", "an empty JSON object"},
      {"{'workload': {'model': 'a'}}", "JSON with a key that is not in double quotes"},
      {R"({"loss": 1, "step": 2})", "JSON with the keys \"loss\", \"step\""},
      {R"({"workload": {}, "cluster": "a"})",
       "a scenario without its \"schema\": \"foretrace.scenario/1\""},
      {R"({"model": "a", "engine": "b", "requests": {}})",
       "a served model without its \"schema\": \"foretrace.serving/1\""},
  };
  for (const Case& one : cases) {
    CAPTURE(one.expected);
    CHECK(describe_format(one.bytes).find(one.expected) != std::string::npos);
  }
  CHECK(describe_format("") == "is empty");
  CHECK(describe_format(" \n ") == "is blank");
}

TEST_CASE("describe: what may be a trace is not called anything") {
  CHECK(describe_format(R"({"traceEvents": [)").empty());
  CHECK(describe_format(R"([{"ph": "X", "name": "a")").empty());
}

TEST_CASE("describe: a number of a pickle alone makes none") {
  CHECK(describe_format("\x80\x09\x95").find("pickle") == std::string::npos);
  CHECK(describe_format("\x80\x04\x01").find("pickle") == std::string::npos);
}

}  // namespace
}  // namespace foretrace::trace::formats
