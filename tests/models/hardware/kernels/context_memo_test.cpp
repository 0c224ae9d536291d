#include "models/hardware/kernels/context_memo.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/core/parallel.h"

namespace foretrace {
namespace {

std::shared_ptr<const GraphContext> context(const std::string& name) {
  auto made = std::make_shared<GraphContext>();
  made->works.resize(1);
  made->works[0].name = made->names.intern(name);
  return made;
}

std::string name_in(const GraphContext& context) {
  return std::string(context.names[context.works[0].name]);
}

/// Answers with the name of a context's work, and counts how often it had to look.
struct Asked {
  ContextMemo<std::string> memo{2};
  int looks = 0;

  std::string name_of(const std::shared_ptr<const GraphContext>& context) {
    return *memo.get(context, [&] {
      ++looks;
      return name_in(*context);
    });
  }
};

TEST_CASE("context memo: what follows from a context is made once, for each its own") {
  Asked asked;
  const auto a = context("a");
  const auto b = context("b");
  for (int i = 0; i < 3; ++i) {
    CHECK(asked.name_of(a) == "a");
    CHECK(asked.name_of(b) == "b");
  }
  CHECK(asked.looks == 2);
}

TEST_CASE("context memo: the context that was asked for longest ago makes room") {
  Asked asked;
  const auto a = context("a");
  const auto b = context("b");
  const auto c = context("c");
  asked.name_of(a);
  asked.name_of(b);
  asked.name_of(a);
  CHECK(asked.name_of(c) == "c");
  CHECK(asked.memo.size() == 2);
  CHECK(asked.name_of(a) == "a");
  CHECK(asked.looks == 3);
  CHECK(asked.name_of(b) == "b");
  CHECK(asked.looks == 4);
}

TEST_CASE("context memo: one that comes where another was is not taken for it") {
  Asked asked;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "context " + std::to_string(i);
    CHECK(asked.name_of(context(name)) == name);  // gone at once: the next may have its address
  }
  CHECK(asked.looks == 200);
  CHECK(asked.memo.size() == 1);
}

TEST_CASE("context memo: threads get what belongs to their context") {
  const std::vector<std::shared_ptr<const GraphContext>> contexts = {context("a"), context("b"),
                                                                     context("c")};
  ContextMemo<std::string> memo(2);  // less than there are: values come and go
  std::atomic<int> wrong{0};
  for_each_index(
      600,
      [&](std::size_t i) {
        const auto& own = contexts[i % contexts.size()];
        const auto name = memo.get(own, [&] { return name_in(*own); });
        if (*name != name_in(*own)) ++wrong;
      },
      4);
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace foretrace
