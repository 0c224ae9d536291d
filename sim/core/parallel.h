// Runs independent pieces of work on a few threads.
#pragma once

#include <cstddef>
#include <functional>

namespace foretrace {

/// Calls work(0) ... work(count - 1), each once, in any order; `threads` at most, 0: as many as the
/// machine has, up to 8. The first exception that `work` throws is thrown again here once all have
/// come to an end.
void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work,
                    std::size_t threads = 0);

}  // namespace foretrace
