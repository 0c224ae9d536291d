// Running out of memory while one file is worked on is an error of that file.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/core/result.h"

namespace foretrace::trace {

/// What `work` returns, a Result; if memory runs out in it, an error that names `path`.
template <typename Work>
[[nodiscard]] auto or_out_of_memory(std::string_view path, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::io, std::string(path) + ": out of memory"};
  } catch (const std::length_error&) {
    return Error{ErrorCode::io, std::string(path) + ": out of memory"};
  }
}

}  // namespace foretrace::trace
