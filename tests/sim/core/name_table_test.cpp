#include "sim/core/name_table.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

using foretrace::NameId;
using foretrace::NameTable;
using foretrace::none;

TEST_CASE("name table: id 0 is the empty string, also of a view without data") {
  NameTable names;
  CHECK(names.intern("") == NameId{0});
  CHECK(names.intern(std::string_view{}) == NameId{0});
  CHECK(names[NameId{0}].empty());
}

TEST_CASE("name table: equal texts share an id, others do not") {
  NameTable names;
  const NameId gemm = names.intern("gemm");
  CHECK(names.intern(std::string("gemm")) == gemm);
  CHECK(names.intern("gemn") != gemm);
  CHECK(names.find("gemm") == gemm);
  CHECK(names.find("conv") == none<NameId>);
}

TEST_CASE("name table: texts stay where they are while the table grows") {
  NameTable names;
  const NameId first = names.intern("first");
  const std::string_view text = names[first];
  for (int i = 0; i < 100000; ++i) names.intern("text " + std::to_string(i));
  CHECK(names.intern(std::string(100000, 'x')) != first);
  CHECK(text == "first");
  CHECK(names.find("first") == first);
  const NameTable copy = names;
  CHECK(copy.find("text 99999") == names.find("text 99999"));
}
