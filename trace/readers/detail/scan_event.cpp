#include "trace/readers/detail/scan_event.h"

#include <cstring>

#include "trace/readers/detail/hash.h"

namespace foretrace::trace::detail {
namespace {

class EventScanner {
 public:
  EventScanner(const char* end, EventFields& out) : scanner_(end), out_(out) {}

  [[nodiscard]] bool ran_out() const { return scanner_.ran_out(); }

  // Behind the object at `at`, or null.
  const char* event(const char* at) {
    const char* const start = at;
    at = object(at, [this](const RawString& key, const char* value) { return member(key, value); });
    if (at != nullptr) {
      out_.text = view(start, at);
    }
    return at;
  }

 private:
  static std::string_view view(const char* from, const char* to) {
    return {from, static_cast<std::size_t>(to - from)};
  }

  template <typename Member>
  const char* object(const char* at, Member&& member) {
    at = scanner_.skip_blanks(at + 1);
    if (*at == '}') {
      return at < scanner_.end() ? at + 1 : scanner_.stop(at);
    }
    while (true) {
      RawString key;
      if (*at != '"' || at >= scanner_.end()) {
        return scanner_.stop(at);
      }
      at = scanner_.string(at + 1, key);
      if (at == nullptr) {
        return nullptr;
      }
      at = scanner_.skip_blanks(at);
      if (*at != ':' || key.has_escapes) {
        return scanner_.stop(at);
      }
      at = member(key, scanner_.skip_blanks(at + 1));
      if (at == nullptr) {
        return nullptr;
      }
      at = scanner_.skip_blanks(at);
      if (at >= scanner_.end() || *at == '}') {
        return at >= scanner_.end() ? scanner_.stop(at) : at + 1;
      }
      if (*at != ',') {
        return scanner_.stop(at);
      }
      at = scanner_.skip_blanks(at + 1);
    }
  }

  const char* member(const RawString& key, const char* value) {
    const std::string_view k = key.text;
    switch (k.size()) {
      case 2:
        if (k == "ph") {
          return phase(value);
        }
        return k == "ts" ? any(value, out_.time) : k == "id" ? any(value, out_.id) : skip(value);
      case 3:
        if (k == "cat") {
          return text(value, out_.category);
        }
        return k == "pid"   ? any(value, out_.process)
               : k == "tid" ? any(value, out_.thread)
               : k == "dur" ? any(value, out_.duration)
                            : skip(value);
      case 4:
        if (k == "name") {
          out_.has_name = *value == '"';
          return text(value, out_.name);
        }
        return k == "args" ? arguments(value) : skip(value);
      default: return skip(value);
    }
  }

  const char* skip(const char* value) { return scanner_.value(value); }

  const char* any(const char* value, std::string_view& out) {
    const char* const behind = scanner_.value(value);
    if (behind != nullptr) {
      out = view(value, behind);
    }
    return behind;
  }

  const char* text(const char* value, RawString& out) {
    return *value == '"' && value < scanner_.end() ? scanner_.string(value + 1, out)
                                                   : scanner_.value(value);
  }

  const char* phase(const char* value) {
    std::string_view token;
    value = any(value, token);
    out_.phase = token.size() == 3 && token.front() == '"' ? token[1] : '?';
    return value;
  }

  const char* arguments(const char* value) {
    if (*value != '{' || value >= scanner_.end()) {
      return scanner_.value(value);
    }
    out_.known = EventArguments{};
    RunHash hash;
    const char* const behind = object(value, [&](const RawString& key, const char* at) {
      const char* const key_start = key.text.data() - 1;
      std::string_view token;
      const char* const token_end = any(at, token);
      if (token_end != nullptr) {
        argument(argument_role(key.text), token, view(key_start, token_end), hash);
      }
      return token_end;
    });
    if (behind != nullptr) {
      out_.known.hash = hash.finish();
      out_.arguments = view(value, behind);
    }
    return behind;
  }

  void argument(ArgumentRole role, std::string_view token, std::string_view pair, RunHash& hash) {
    switch (role) {
      case ArgumentRole::correlation: out_.known.correlation = token; return;
      case ArgumentRole::external_id: out_.known.external_id = token; return;
      case ArgumentRole::device: out_.known.device = token; return;
      case ArgumentRole::stream: out_.known.stream = token; return;
      case ArgumentRole::sequence_number: out_.known.sequence_number = token; return;
      case ArgumentRole::forward_thread: out_.known.forward_thread = token; return;
      case ArgumentRole::ignored: return;
      case ArgumentRole::dims:
      case ArgumentRole::types:
      case ArgumentRole::concrete:
      case ArgumentRole::bytes:
      case ArgumentRole::grid:
      case ArgumentRole::block:
      case ArgumentRole::registers:
      case ArgumentRole::shared_memory:
      case ArgumentRole::flops:
      case ArgumentRole::other: hash.add(pair); return;
    }
  }

  Scanner scanner_;
  EventFields& out_;
};

}  // namespace

ScanOutcome scan_event(const char*& at, const char* end, EventFields& out) {
  out = EventFields{};
  EventScanner scanner(end, out);
  const char* const behind = scanner.event(at);
  if (behind == nullptr) {
    return scanner.ran_out() ? ScanOutcome::more_needed : ScanOutcome::unexpected;
  }
  at = behind;
  return ScanOutcome::event;
}

}  // namespace foretrace::trace::detail
