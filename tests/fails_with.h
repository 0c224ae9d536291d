// What a test expects of an error.
#pragma once

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "sim/core/result.h"

namespace foretrace::test {

/// True if it is an error that says this; another message is shown where a check fails.
template <typename T>
bool fails_with(const Result<T>& result, std::string_view what) {
  const std::string message = result.ok() ? "no error" : result.error().message;
  const bool says_so = message.find(what) != std::string::npos;
  if (!says_so) MESSAGE(message);
  return says_so;
}

}  // namespace foretrace::test
