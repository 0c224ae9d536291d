// The page of `inspect --communication`: foretrace.communication/1.
#include "apps/report/pages/communication.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<CommunicationAnswer> communication_context, communication_costs, communication_ranks,
    communication_stalls;
}

Page communication_page(const CommunicationAnswer& answer) {
  using namespace sections;
  constexpr std::array list = {communication_context, communication_costs, communication_ranks,
                               communication_stalls};
  Page page{.schema = "foretrace.communication/1",
            .document_keys = {"input", "import", "measured", "collectives", "matched",
                              "communicators", "rows", "ranks", "stalls", "honesty", "warnings"},
            .sections = build<CommunicationAnswer>(list, {}, answer),
            .main_table = "collectives"};
  say_doubts(answer.session.replay().doubts, page);
  return page;
}

}  // namespace foretrace::report
