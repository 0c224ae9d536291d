#include "trace/io/read_budget.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace::trace {
namespace {

/// As much memory as a reader might have taken; touched, so that it counts.
std::vector<char> taken(std::size_t bytes) {
  std::vector<char> memory(bytes, 1);
  return memory;
}

constexpr std::size_t mib = std::size_t{1} << 20U;

}  // namespace

TEST_CASE("read budget: memory may grow by so much for each byte that was unpacked") {
  ReadBudget budget(8 * mib, 64);
  CHECK(budget.check("t").ok());
  const std::vector<char> much = taken(40 * mib);
  const Status beyond = budget.check("t.json");  // 32 MiB more than any input may take
  REQUIRE_FALSE(beyond.ok());
  CHECK(beyond.error().message.starts_with("t.json: 0 bytes need "));
  budget.add(mib);  // which may take 64 MiB
  CHECK(budget.check("t.json").ok());
}

TEST_CASE("read budget: reading ends when it is spent, and not before") {
  const std::string bytes(20 * mib, ' ');
  const auto read_all = [&](const std::shared_ptr<ReadBudget>& budget, std::size_t per_read) {
    const auto source = within(budget, open_memory(bytes, "t.json"));
    std::vector<char> buffer(mib);
    std::vector<std::vector<char>> kept;
    while (true) {
      const auto got = source->read(buffer);
      if (!got) return got.error().message;
      if (*got == 0) return std::string();
      if (per_read > 0) kept.push_back(taken(per_read));
    }
  };
  CHECK(read_all(std::make_shared<ReadBudget>(8 * mib, 2), 0).empty());
  // 3 bytes of memory for each byte; looked at after 16 MiB.
  CHECK(read_all(std::make_shared<ReadBudget>(mib, 2), 3 * mib).starts_with("t.json: "));
  CHECK(read_all(nullptr, mib).empty());
}

}  // namespace foretrace::trace
