// The page of `communication`.
#pragma once

#include "apps/questions/compare/communication.h"
#include "apps/report/section.h"
#include "apps/session/session.h"

namespace foretrace::report {

struct CommunicationAnswer {
  const Session& session;
  const Communication& communication;
};
/// foretrace.communication/1.
[[nodiscard]] Page communication_page(const CommunicationAnswer& answer);

}  // namespace foretrace::report
