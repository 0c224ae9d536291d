#include "trace/formats/chrome/event_scanner.h"

#include <cstring>
#include <utility>

#include "sim/core/text.h"
#include "trace/formats/common/hash.h"
#include "trace/formats/json/scan.h"

namespace foretrace::trace::formats {
namespace {

// Bounds of what is learned: layouts of real traces need about 200 places with up to 14 steps.
constexpr std::size_t most_places = 1024;
constexpr std::size_t most_steps = 24;
constexpr std::size_t unknown_place = 0xFFFF;
constexpr std::size_t longest_text = 48;

std::string_view view(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

bool is_flow(char phase) { return phase == 's' || phase == 'f' || phase == 't'; }

}  // namespace

// The way through one event: stretches of text, learned or parsed, and the values behind them.
class EventScanner::Walk {
 public:
  Walk(EventScanner& learned, const char* end, EventFields& out)
      : learned_(learned), scanner_(end), out_(out) {}

  [[nodiscard]] bool ran_out() const { return scanner_.ran_out(); }

  // Behind the object at `at`, or null.
  const char* event(const char* at) {
    start_ = at;
    while (at != nullptr) {
      const char* const from = at;
      const Step* const step = place_ == unknown_place ? nullptr : learned_.predict(place_, at);
      Action action = Action::nothing;
      std::size_t key_offset = 0;
      ArgumentRole role = ArgumentRole::other;
      if (step != nullptr) {
        at += step->length;
        place_ = step->place;
        action = step->stretch.action;
        key_offset = step->stretch.key_offset;
        role = step->stretch.role;
        if (step->stretch.has_notes) {
          note(step->stretch, from);
        }
      } else {
        Stretch stretch;
        at = parse_stretch(from, stretch);
        if (at == nullptr) return nullptr;
        action = stretch.action;
        key_offset = stretch.key_offset;
        role = stretch.role;
        note(stretch, from);
      }
      if (action < Action::name) {
        at = take_number(at, out_.numbers[static_cast<std::size_t>(action)]);
      } else if (action == Action::describe) {
        const char* const value = scanner_.skip_blanks(at);
        at = scanner_.value(value);
        hash_.add(from, from + key_offset, at);
        out_.described.push_back({from + key_offset, value, at, role});
      } else if (action == Action::end_of_event) {
        out_.text = view(start_, at);
        return at;
      } else if (action == Action::flow) {
        if (const char* const behind = skip_flow()) return behind;
      } else if (action != Action::nothing) {
        at = take_other(scanner_.skip_blanks(at), action);
      }
    }
    return nullptr;
  }

 private:
  void note(const Stretch& stretch, const char* from) {
    if (stretch.phase != '\0') {
      out_.phase = stretch.phase;
    }
    if (stretch.has_category) {
      out_.category = stretch.category;
    }
    if (stretch.opens != 0) {
      in_arguments_ = true;
      arguments_start_ = from + stretch.opens - 1;
      hash_ = RunHash{};
      out_.described.clear();
    }
    if (stretch.closes != 0) {
      in_arguments_ = false;
      out_.arguments = view(arguments_start_, from + stretch.closes);
      out_.arguments_hash = hash_.finish();
    }
  }

  // Parses on from `from` until there is a value to take, and learns the text up to there. What is
  // too long to be learned at once is cut into several stretches.
  const char* parse_stretch(const char* from, Stretch& stretch) {
    const char* at = from;
    while (true) {
      Stretch longer = stretch;
      learnable_ = true;
      const char* const behind = parse_part(from, at, longer);
      if (behind == nullptr) return nullptr;
      const bool reopens = stretch.closes != 0 && longer.opens != stretch.opens;
      const bool fits = learnable_ && !reopens && view(from, behind).size() <= longest_text;
      if (!fits && at != from) {
        place_ = learned_.learn(place_, view(from, at), stretch);
        return at;
      }
      stretch = longer;
      if (!fits || stretch.action != Action::nothing) {
        place_ = fits ? learned_.learn(place_, view(from, behind), stretch) : unknown_place;
        return behind;
      }
      at = behind;
    }
  }

  // One key, or one closing brace, with the comma and the blanks around it.
  const char* parse_part(const char* from, const char* at, Stretch& stretch) {
    const bool inside = stretch.closes == 0 && (in_arguments_ || stretch.opens != 0);
    const char* const brace = stretch.opens != 0 ? from + stretch.opens - 1 : arguments_start_;
    const bool first = at == start_ || (inside && at == brace);
    at = scanner_.skip_blanks(first ? at + 1 : at);
    if (*at == '}' && at < scanner_.end()) return close(from, at + 1, stretch, inside);
    if (!first) {
      if (*at != ',') return scanner_.stop(at);
      at = scanner_.skip_blanks(at + 1);
    }
    if (*at != '"') return scanner_.stop(at);
    const char* const key_start = at;
    RawString key;
    at = scanner_.string(at + 1, key);
    if (at == nullptr) return nullptr;
    at = scanner_.skip_blanks(at);
    if (*at != ':' || key.has_escapes) return scanner_.stop(at);
    at = scanner_.skip_blanks(at + 1);
    if (at >= scanner_.end()) return scanner_.stop(at);
    if (!fits_offset(from, at)) {
      return nullptr;  // more blanks than any writer puts there: the full parser takes them out
    }
    stretch.key_offset = static_cast<std::uint8_t>(key_start - from);
    if (inside) {
      stretch.role = argument_role(key.text);
      stretch.action = action_of_argument(stretch.role);
      return at;
    }
    return begin_value(key.text, from, at, stretch);
  }

  static bool fits_offset(const char* from, const char* at) {
    return at - from < std::numeric_limits<std::uint8_t>::max();
  }

  static const char* close(const char* from, const char* behind, Stretch& stretch, bool inside) {
    if (!inside) {
      stretch.action = Action::end_of_event;
      return behind;
    }
    if (!fits_offset(from, behind)) return nullptr;
    stretch.closes = static_cast<std::uint8_t>(behind - from);
    stretch.has_notes = true;
    return behind;
  }

  // Phases and categories are so few that they are learned with their keys.
  const char* begin_value(std::string_view key, const char* from, const char* at,
                          Stretch& stretch) {
    if (key == "args" && *at == '{') {
      stretch.opens = static_cast<std::uint8_t>(at - from + 1);
      stretch.has_notes = true;
      return at;
    }
    if (key != "ph" && key != "cat") {
      learnable_ = key != "args";  // else it would be taken for arguments that are an object
      stretch.action = action_of(key);
      return at;
    }
    const char* const behind = scanner_.value(at);
    if (behind == nullptr) return nullptr;
    const std::string_view token = view(at, behind);
    const bool text = token.size() >= 2 && token.front() == '"';
    learnable_ = text;  // a number might go on where the learned text ends
    stretch.has_notes = true;
    if (key == "ph") {
      stretch.phase = text && token.size() == 3 ? token[1] : '?';
      stretch.action = is_flow(stretch.phase) ? Action::flow : Action::nothing;
    } else if (text) {
      stretch.has_category = true;
      stretch.category = category_of(token.substr(1, token.size() - 2));
    }
    return behind;
  }

  static Action number(NumberField field) {
    return static_cast<Action>(static_cast<std::uint8_t>(field));
  }

  static Action action_of(std::string_view key) {
    return key == "name"  ? Action::name
           : key == "pid" ? number(NumberField::process)
           : key == "tid" ? number(NumberField::thread)
           : key == "ts"  ? number(NumberField::time)
           : key == "dur" ? number(NumberField::duration)
           : key == "id"  ? number(NumberField::id)
                          : Action::ignore;
  }

  static Action action_of_argument(ArgumentRole role) {
    switch (role) {
      case ArgumentRole::correlation: return number(NumberField::correlation);
      case ArgumentRole::external_id: return number(NumberField::external_id);
      case ArgumentRole::device: return number(NumberField::device);
      case ArgumentRole::stream: return number(NumberField::stream);
      case ArgumentRole::sequence_number: return number(NumberField::sequence_number);
      case ArgumentRole::forward_thread: return number(NumberField::forward_thread);
      case ArgumentRole::record_function: return number(NumberField::record_function);
      case ArgumentRole::ignored: return Action::ignore;
      case ArgumentRole::dims:
      case ArgumentRole::types:
      case ArgumentRole::concrete:
      case ArgumentRole::bytes:
      case ArgumentRole::grid:
      case ArgumentRole::block:
      case ArgumentRole::registers:
      case ArgumentRole::shared_memory:
      case ArgumentRole::flops:
      case ArgumentRole::other: return Action::describe;
    }
    return Action::ignore;
  }

  // A fifth to a third of all events are arrows from launches to kernels, which repeat what the
  // correlation says. Behind such an event; null if it may be forward -> backward, or is damaged.
  const char* skip_flow() {
    bool has_w = false;  // kept while brackets are counted, as it stands in few of the others
    const char* const behind = scanner_.object(start_, 'w', has_w);
    for (const char* at = start_; has_w && behind != nullptr && at < behind; at += 16) {
      if (forward_mask(at) != 0) {  // "fwdbwd", "fwd_bwd", "forward_backward"
        return nullptr;
      }
    }
    if (behind != nullptr) {
      out_.text = view(start_, behind);
    }
    return behind;
  }

  // Numbers may also be texts.
  const char* take_number(const char* at, Number& out) {
    const char* behind = scan_plain_number(at, out);
    if (behind != nullptr && behind < scanner_.end()) return behind;
    at = scanner_.skip_blanks(at);
    behind = scanner_.value(at);
    if (behind != nullptr) {
      out = Number{at, 0, static_cast<std::uint32_t>(behind - at), 0, false, 0};
    }
    return behind;
  }

  const char* take_other(const char* at, Action action) {
    if (action != Action::name || *at != '"') return scanner_.value(at);
    out_.has_name = true;
    return scanner_.string(at + 1, out_.name);
  }

  EventScanner& learned_;
  Scanner scanner_;
  EventFields& out_;
  RunHash hash_;
  std::size_t place_ = 0;
  const char* start_ = nullptr;
  const char* arguments_start_ = nullptr;
  bool in_arguments_ = false;
  bool learnable_ = true;
};

EventScanner::EventScanner() : places_(1) { places_.reserve(most_places); }

inline const EventScanner::Step* EventScanner::predict(std::size_t place, const char* at) {
  Place& from = places_[place];
  return equal_48(at, from.likely.text.data(), from.likely.mask) && from.likely.length != 0
             ? &from.likely
             : predict_other(from, at);
}

const EventScanner::Step* EventScanner::predict_other(Place& from, const char* at) {
  for (Step& step : from.others) {
    if (equal_48(at, step.text.data(), step.mask)) {
      if (++step.uses <= from.likely.uses) return &step;
      from.likely.uses = 0;  // what follows changed: it counts anew
      std::swap(from.likely, step);
      return &from.likely;
    }
  }
  return nullptr;
}

std::size_t EventScanner::learn(std::size_t place, std::string_view text, const Stretch& stretch) {
  if (place == unknown_place || places_.size() >= most_places ||
      places_[place].others.size() >= most_steps) {
    return unknown_place;
  }
  if (contains(text, '\0')) {
    return unknown_place;  // zero bytes also stand behind the end of the text
  }
  Step step;
  std::memcpy(step.text.data(), text.data(), text.size());
  step.length = static_cast<std::uint8_t>(text.size());
  step.mask = (std::uint64_t{1} << text.size()) - 1;
  step.place = static_cast<std::uint16_t>(places_.size());
  step.stretch = stretch;
  places_.emplace_back();
  Place& from = places_[place];
  if (from.likely.length != 0) {
    from.others.push_back(from.likely);
  }
  from.likely = step;
  return step.place;
}

ScanOutcome EventScanner::scan(const char*& at, const char* end, EventFields& out) {
  out.clear();
  Walk walk(*this, end, out);
  const char* const behind = walk.event(at);
  if (behind == nullptr) return walk.ran_out() ? ScanOutcome::more_needed : ScanOutcome::unexpected;
  at = behind;
  return ScanOutcome::event;
}

}  // namespace foretrace::trace::formats
