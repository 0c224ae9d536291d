#include "apps/explorer/service.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/driver/predict.h"
#include "apps/explorer/cards.h"
#include "apps/explorer/facts.h"
#include "apps/report/text.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;
using serve::refusal;
using serve::Response;

constexpr std::string_view carries_json = "application/json";
constexpr std::size_t most_clients = 64;

std::string dumped(const json& document) {
  return document.dump(-1, ' ', true, json::error_handler_t::replace);
}

Response superseded() { return refusal(409, "a newer question came"); }

/// What was asked for makes no sense, or finds nothing here: the message is for the person.
Response declined(const Error& error) { return refusal(422, error.message); }

std::string text_of(const driver::WhatIf& what_if) {
  driver::WhatIfSpec spec{std::string(what_if.optimization->name), {}};
  for (const ParamInfo& row : what_if.optimization->params) {
    if (what_if.parameters.given(row)) {
      const auto texts = what_if.parameters.texts();
      const auto own = std::ranges::find(
          texts, row.name, [](const auto& each) { return std::string_view(each.first); });
      if (own != texts.end()) spec.parameters.push_back(*own);
    }
  }
  return driver::text_of(spec);
}

std::vector<std::string> texts_of(const std::vector<driver::WhatIf>& stack) {
  std::vector<std::string> texts;
  for (const driver::WhatIf& what_if : stack) texts.push_back(text_of(what_if));
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
  if (ids_.size() >= most_clients && !ids_.contains(question.client)) ids_.clear();
  std::uint64_t& id = ids_[question.client];
  id = std::max(id, question.id);
}

bool Newest::is_superseded(const Question& question) const {
  const std::lock_guard lock(mutex_);
  const auto found = ids_.find(question.client);
  return found != ids_.end() && found->second > question.id;
}

Status Service::prepare() {
  Result<PageParts> parts = page_parts(input_);
  if (!parts.ok()) return parts.error();
  json opening = what_there_is(input_.recording.catalogue());
  opening["pieces"] = std::move(parts->pieces);
  opening["blocks"] = std::move(parts->blocks);
  opening_ = dumped(opening);
  shell_ = make_shell(input_.version);
  return ok_status();
}

Response Service::answer(const serve::Request& request, const serve::Guard& guard) {
  const bool is_call = request.target.starts_with("/api/");
  if (auto refused = serve::refused(request, guard, is_call)) return *std::move(refused);
  if (is_call) return ask(request);
  if (request.method != "GET") return refusal(405, "expected GET");
  if (request.target == "/") {
    return {.type = "text/html; charset=utf-8", .body = shell_.html, .policy = shell_.policy};
  }
  if (request.target == "/favicon.ico") return {.status = 204};
  return refusal(404, "there is one page here, at /");
}

Response Service::ask(const serve::Request& request) {
  if (request.method != "POST") return refusal(405, "expected POST");
  const std::string* const type = request.header("content-type");
  if (type == nullptr || *type != carries_json) return refusal(415, "expected application/json");
  if (request.target == "/api/open") return {.body = opening_};
  const bool is_point = request.target == "/api/point";
  if (!is_point && request.target != "/api/rest") return refusal(404, "no such call");
  const Result<Question> question = parse_question(request.body);
  if (!question.ok()) return refusal(400, question.error().message);
  newest_.announce(*question);
  const Result<Stack> stack = checked(*question);
  if (!stack.ok()) return declined(stack.error());
  const std::lock_guard lock(engine_);
  if (newest_.is_superseded(*question)) return superseded();
  return is_point ? point(*question, *stack) : rest(*question, *stack);
}

Result<driver::WhatIfStack> Service::applied(const Question& question, const Stack& stack) {
  std::size_t same = 0;
  const std::vector<std::string> texts = texts_of(stack);
  while (same < std::min(layers_.size(), texts.size()) && layers_[same].text == texts[same]) ++same;
  layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(same), layers_.end());
  driver::WhatIfStack made = layers_.empty()
                                 ? driver::WhatIfStack(input_.recording, options_.checks)
                                 : layers_.back().stack;
  for (std::size_t i = same; i < stack.size(); ++i) {
    if (newest_.is_superseded(question)) break;
    if (Status pushed = made.push(stack[i], driver::Neutral::keep); !pushed.ok()) {
      return pushed.error();
    }
    layers_.push_back({texts[i], made});
  }
  return made;
}

Response Service::point(const Question& question, const Stack& stack) {
  const Result<driver::WhatIfStack> made = applied(question, stack);
  if (!made.ok()) return declined(made.error());
  if (newest_.is_superseded(question)) return superseded();
  Result<driver::Run> run = driver::simulate_run(made->graph(), options_);
  if (!run.ok()) return declined(run.error());
  if (newest_.is_superseded(question)) return superseded();
  driver::Prediction prediction;
  prediction.low_ns = prediction.high_ns = run->answer.step_ns;
  prediction.graph = made->graph();
  prediction.origin = made->origin();
  prediction.applied = made->applied();
  prediction.samples = made->samples();
  prediction.run = *std::move(run);
  const bool is_shown =
      fits_doubles(prediction.graph) && is_pulled(prediction.graph, prediction.run.timeline);
  const Variant variant = variant_of("engine", texts_of(stack), std::move(prediction), how_tos_);
  PackedGraph packed;
  if (is_shown) {
    packed =
        pack_variant(variant.prediction.graph, input_.recording.graph(), variant.prediction.origin);
  }
  Strings strings;
  json head = {{"id", question.id},
               {"is_shown", is_shown},
               {"variant", variant_facts(variant, input_.recording.graph(), packed, strings)}};
  head["strings"] = strings.list();
  return {.type = "application/octet-stream", .body = framed(head, packed.bytes)};
}

Response Service::rest(const Question& question, const Stack& stack) {
  driver::RunOptions options = options_;
  options.keeps_neutral = true;
  Result<driver::Prediction> prediction =
      driver::predict(input_.recording, stack, options, &input_.replay);
  if (!prediction.ok()) return declined(prediction.error());
  if (newest_.is_superseded(question)) return superseded();
  driver::add_facts(input_.recording, input_.replay.run, *prediction);
  const Variant variant = variant_of("engine", texts_of(stack), *std::move(prediction), how_tos_);
  const Result<Card> why = why_card(input_, variant);
  if (!why.ok()) return declined(why.error());
  if (newest_.is_superseded(question)) return superseded();
  const Result<Card> rests_on = rests_on_card(input_, variant, options);
  if (!rests_on.ok()) return declined(rests_on.error());
  json cards = json::array();
  for (const Card* const card : {&*why, &*rests_on}) {
    cards.push_back({{"title", card->title}, {"html", card->html}});
  }
  const driver::Prediction& known = variant.prediction;
  return {.body = dumped({{"id", question.id},
                          {"step_ns", known.run.answer.step_ns},
                          {"low_ns", known.low_ns},
                          {"high_ns", known.high_ns},
                          {"samples", known.samples.value_or(1)},
                          {"cards", cards}})};
}

}  // namespace foretrace::explorer
