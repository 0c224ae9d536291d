#include "apps/sweep/space/document.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/core/config_text.h"
#include "sim/core/params.h"

namespace foretrace::sweeping {
namespace {

std::size_t place_in_list(std::string_view part, std::size_t most) {
  std::size_t at = most + 1;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), at);
  return error == std::errc() && end == part.data() + part.size() ? at : most + 1;
}

std::string path_to(std::span<const std::string> parts, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += "/" + parts[i];
  return path.empty() ? "/" : path;
}

Error no_member(const ConfigValue& at, std::span<const std::string> parts, std::size_t depth) {
  const std::vector<std::string_view> known(at.keys.begin(), at.keys.end());
  const std::string what =
      at.kind == ConfigValue::Kind::list
          ? fmt::format("has {} items, got {}", at.items.size(), in_quotes(parts[depth]))
      : at.kind == ConfigValue::Kind::object
          ? fmt::format("has no member {}{}", in_quotes(parts[depth]),
                        did_you_mean(parts[depth], known))
          : fmt::format("{}, expected an object or a list", at.described());
  return {ErrorCode::bad_config, fmt::format("{} {}", path_to(parts, depth), what)};
}

}  // namespace

std::string shown_text(const ConfigValue& value) {
  if (value.kind == ConfigValue::Kind::null) return "none";
  if (value.kind == ConfigValue::Kind::text) return value.text;
  return json_text(value);
}

Result<std::vector<std::string>> pointer_parts(std::string_view pointer) {
  const auto wrong = [&](std::string_view why) {
    return Error{ErrorCode::bad_config,
                 fmt::format("got {}, expected a JSON pointer such as '/batch/micro'{}",
                             in_quotes(pointer), why)};
  };
  if (pointer.size() < 2 || pointer.front() != '/') return wrong("");
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      parts.emplace_back();
    } else if (pointer[i] != '~') {
      parts.back() += pointer[i];
    } else if (++i < pointer.size() && (pointer[i] == '0' || pointer[i] == '1')) {
      parts.back() += pointer[i] == '0' ? '~' : '/';
    } else {
      return wrong(": '~' stands as ~0, '/' within a name as ~1");
    }
  }
  return parts;
}

Status set_at(ConfigValue& document, std::span<const std::string> parts, const ConfigValue& value) {
  ConfigValue* at = &document;
  for (std::size_t depth = 0; depth < parts.size(); ++depth) {
    const std::string& part = parts[depth];
    const bool is_last = depth + 1 == parts.size();
    std::size_t place = 0;
    if (at->kind == ConfigValue::Kind::list) {
      place = place_in_list(part, at->items.size());
      if (is_last && place == at->items.size()) at->items.emplace_back();
    } else if (at->kind == ConfigValue::Kind::object) {
      place = static_cast<std::size_t>(std::find(at->keys.begin(), at->keys.end(), part) -
                                       at->keys.begin());
      if (is_last && value.kind == ConfigValue::Kind::null) {
        if (place == at->items.size()) return ok_status();
        at->keys.erase(at->keys.begin() + static_cast<std::ptrdiff_t>(place));
        at->items.erase(at->items.begin() + static_cast<std::ptrdiff_t>(place));
        return ok_status();
      }
      if (is_last && place == at->items.size()) {
        at->keys.push_back(part);
        at->items.emplace_back();
      }
    } else {
      return no_member(*at, parts, depth);
    }
    if (place >= at->items.size()) return no_member(*at, parts, depth);
    at = &at->items[place];
  }
  *at = value;
  return ok_status();
}

}  // namespace foretrace::sweeping
