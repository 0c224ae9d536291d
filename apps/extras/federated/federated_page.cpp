// The page of `schedule` for federated learning: foretrace.federated_result/1.
#include "apps/extras/federated/federated_page.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<FederatedAnswer> federated_policies;
}

Page federated_page(const FederatedAnswer& answer) {
  constexpr std::array list = {sections::federated_policies};
  return {.schema = "foretrace.federated_result/1",
          .document_keys = {"path", "policies"},
          .sections = build<FederatedAnswer>(list, {}, answer),
          .main_table = "policies"};
}

}  // namespace foretrace::report
