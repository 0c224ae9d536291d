#include "apps/explorer/served/service.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/explorer/cards.h"
#include "apps/explorer/facts.h"
#include "apps/explorer/page_pieces.h"
#include "apps/report/text.h"
#include "apps/session/answer_laws.h"
#include "apps/session/changed_job.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;
using serve::refusal;
using serve::Response;

constexpr std::size_t most_clients = 64;

std::string dumped(const json& document) {
  return document.dump(-1, ' ', true, json::error_handler_t::replace);
}

Response superseded() { return refusal(409, "a newer question came"); }

/// What was asked for makes no sense, or finds nothing here: the message is for the person.
Response declined(const Error& error) { return refusal(422, error.message); }

std::string text_of(const WhatIf& what_if) {
  WhatIfSpec spec{std::string(what_if.info->name), {}};
  for (const ParamInfo& row : what_if.info->params) {
    if (what_if.parameters.given(row)) {
      const auto texts = what_if.parameters.texts();
      const auto own = std::ranges::find(
          texts, row.name, [](const auto& each) { return std::string_view(each.first); });
      if (own != texts.end()) spec.parameters.push_back(*own);
    }
  }
  return text_of(spec);
}

std::vector<std::string> texts_of(const std::vector<WhatIf>& stack) {
  std::vector<std::string> texts;
  texts.reserve(stack.size());
  for (const WhatIf& what_if : stack) texts.push_back(text_of(what_if));
  return texts;
}

/// The length of the head in four bytes, low one first, then the head, then columns.
std::string framed(const json& head, const std::string& bytes) {
  const std::string text = dumped(head);
  std::string body;
  body.reserve(4 + text.size() + bytes.size());
  for (unsigned k = 0; k < 4; ++k) {
    body += static_cast<char>((text.size() >> (8U * k)) & 255U);
  }
  return body + text + bytes;
}

}  // namespace

void Newest::announce(const Question& question) {
  const std::lock_guard lock(mutex_);
  if (pages_.size() >= most_clients && !pages_.contains(question.client)) {
    pages_.erase(
        std::ranges::min_element(pages_, {}, [](const auto& each) { return each.second.turn; }));
  }
  Page& page = pages_[question.client];
  page.id = std::max(page.id, question.id);
  page.turn = ++turns_;
}

bool Newest::is_superseded(const Question& question) const {
  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(question.client);
  return found != pages_.end() && found->second.id > question.id;
}

Status Service::prepare(std::span<const std::string> runs) {
  FORETRACE_TRY(PageParts parts, page_parts(input_));
  json opening = what_there_is(input_.session.recording().catalogue());
  opening["pieces"] = std::move(parts.pieces);
  opening["blocks"] = std::move(parts.blocks);
  opening_ = dumped(opening);
  opening_.pop_back();  // the names of runs follow
  name_runs(runs);
  return ok_status();
}

void Service::name_runs(std::span<const std::string> runs) {
  const std::lock_guard lock(naming_);
  runs_ = dumped(runs);
}

Response Service::answer(std::string_view call, const std::string& body) {
  if (call == "open") {
    if (const Status asked = parse_opening(body); !asked.ok()) {
      return refusal(400, asked.error().message);
    }
    const std::lock_guard lock(naming_);
    return {.body = opening_ + ", \"runs\": " + runs_ + "}"};
  }
  if (call != "point" && call != "rest") return refusal(404, "no such call");
  const Result<Question> question = parse_question(body);
  if (!question.ok()) return refusal(400, question.error().message);
  newest_.announce(*question);
  const Result<Stack> stack = checked(*question);
  if (!stack.ok()) return declined(stack.error());
  const std::lock_guard lock(engine_);
  if (newest_.is_superseded(*question)) return superseded();
  return call == "point" ? point(*question, *stack) : rest(*question, *stack);
}

Result<std::optional<WhatIfStack>> Service::applied(const Question& question, const Stack& stack) {
  const Recording& recording = input_.session.recording();
  const Checks checks = input_.session.options().checks;
  FORETRACE_TRY(const auto job, changed_job(recording, stack));
  if (job) {  // another graph from the first what-if on: no layer of the recording's serves
    WhatIfStack made(*job, checks);
    for (const WhatIf& what_if : job->others) {
      if (newest_.is_superseded(question)) return std::optional<WhatIfStack>();
      FORETRACE_TRY(made.push(what_if, Neutral::keep));
    }
    return std::optional(std::move(made));
  }
  std::size_t same = 0;
  const std::vector<std::string> texts = texts_of(stack);
  while (same < std::min(layers_.size(), texts.size()) && layers_[same].text == texts[same]) ++same;
  layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(same), layers_.end());
  WhatIfStack made = layers_.empty() ? WhatIfStack(recording, checks) : layers_.back().stack;
  for (std::size_t i = same; i < stack.size(); ++i) {
    if (newest_.is_superseded(question)) return std::optional<WhatIfStack>();
    FORETRACE_TRY(made.push(stack[i], Neutral::keep));
    layers_.push_back({texts[i], made});
  }
  return std::optional(std::move(made));
}

Response Service::point(const Question& question, const Stack& stack) {
  const Result<std::optional<WhatIfStack>> applied_to = applied(question, stack);
  if (!applied_to.ok()) return declined(applied_to.error());
  if (!*applied_to || newest_.is_superseded(question)) return superseded();
  const Result<ChangedRun> changed = (*applied_to)->simulate(input_.session.options());
  if (!changed.ok()) return declined(changed.error());
  expect_laws(input_.session.recording(), *changed);
  if (newest_.is_superseded(question)) return superseded();
  const TaskGraph& base = input_.session.graph();
  const bool is_shown = fits_doubles(changed->graph) && is_pulled(*changed);
  const PackedGraph packed =
      is_shown ? pack_variant(changed->graph, base, changed->origin) : PackedGraph{};
  const Variant variant = variant_of("engine", texts_of(stack), changed->applied, how_tos_);
  Strings strings;
  json head = {{"id", question.id},
               {"is_shown", is_shown},
               {"variant", variant_facts(variant, *changed, base, packed, strings)}};
  head["strings"] = strings.list();
  return {.type = "application/octet-stream", .body = framed(head, packed.bytes)};
}

Response Service::rest(const Question& question, const Stack& stack) {
  Result<Answer> answer = input_.session.ask(stack);
  if (!answer.ok()) return declined(answer.error());
  if (newest_.is_superseded(question)) return superseded();
  Variant variant = variant_of("engine", texts_of(stack), *std::move(answer), how_tos_);
  if (const Status told = tell(variant); !told.ok()) return declined(told.error());
  return {.body = dumped({{"id", question.id},
                          {"samples", variant.answer->samples()},
                          {"answer", answer_facts(variant.document)},
                          {"cards", cards_html(variant.cards)}})};
}

}  // namespace foretrace::explorer
