// The page of `schedule` for input through a cache: foretrace.storage_result/1.
#include "apps/extras/storage/storage_page.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<StoredAnswer> stored_input;
}

Page storage_page(const StoredAnswer& answer) {
  constexpr std::array list = {sections::stored_input};
  return {.schema = "foretrace.storage_result/1",
          .document_keys = {"path", "caches"},
          .sections = build<StoredAnswer>(list, {}, answer),
          .main_table = "caches"};
}

}  // namespace foretrace::report
