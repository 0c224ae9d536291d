// The part of a streams file that is a control loop.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/extras/frames/stream_parts.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr std::array<std::string_view, 2> late_words = {"skip", "queue"};
constexpr double longest_stage_ns = 1e12;
constexpr double most_loop_frames = 1e6;
constexpr std::size_t most_loop_stages = 1000;
constexpr std::size_t most_loop_variants = 100;
constexpr double most_loop_events = 1e8;  // of all variants: a minute
constexpr double longest_loop_ns = 4e18;  // that times can tell

class ControlReader {
 public:
  ControlReader(const ConfigValue& value, const std::string& where, const std::string& pointer,
                LoopRequest& control)
      : fields_(value, where, pointer), where_(where), pointer_(pointer), control_(control) {}

  Status read() {
    fields_.texts("devices", control_.devices);
    loop_.devices = control_.devices.size();
    loop_.period_ns = time(fields_, "period");
    loop_.deadline_ns = time(fields_, "deadline");
    loop_.frames = optional_count(fields_, "frames", most_loop_frames, 1000);
    loop_.jitter_ns = optional_time(fields_, "jitter");
    if (loop_.jitter_ns > loop_.period_ns) {
      fields_.mistake("jitter", "got more than the period, expected at most that");
    }
    loop_.late = static_cast<streams::LateFrames>(optional_word(fields_, "late", late_words, 0));
    loop_.seed = static_cast<std::uint64_t>(
        optional_within(fields_, "seed", ParamType::integer, largest_seed, 0));
    read_stages();
    read_guests();
    read_variants();
    const Status fine = fields_.finish();
    return fine.ok() ? check_effort() : fine;
  }

 private:
  static std::int64_t time(ConfigFields& fields, std::string_view key) {
    return to_whole(read_positive(fields, key, ParamType::time, longest_stage_ns));
  }
  static std::int64_t optional_time(ConfigFields& fields, std::string_view key) {
    return to_whole(optional_within(fields, key, ParamType::time, longest_stage_ns, 0));
  }

  std::size_t device(ConfigFields& fields) {
    std::string name;
    fields.text("device", name);
    const auto found = std::find(control_.devices.begin(), control_.devices.end(), name);
    if (found != control_.devices.end()) {
      return static_cast<std::size_t>(found - control_.devices.begin());
    }
    const std::vector<std::string_view> known(control_.devices.begin(), control_.devices.end());
    fields.mistake("device", fmt::format("got {}{}, expected one of {}", in_quotes(name),
                                         did_you_mean(name, known), fmt::join(known, ", ")));
    return 0;
  }

  void read_layers(ConfigFields& stage, const std::string& pointer) {
    const ConfigValue* list = stage.objects("layers");
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      ConfigFields one(list->items[i], where_, fmt::format("{}/layers/{}", pointer, i));
      streams::PrunedLayer layer;
      layer.time_ns = time(one, "time");
      layer.fixed_ns = optional_time(one, "fixed");
      stage.take(one.finish());
      layers_.push_back(layer);
    }
    if (layers_.empty() || layers_.size() > most_loop_stages) {
      stage.mistake("layers",
                    fmt::format("got {}, expected 1 to {}", layers_.size(), most_loop_stages));
    }
  }

  void read_stages() {
    const ConfigValue* list = fields_.objects("stages");
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const std::string pointer = fmt::format("{}/stages/{}", pointer_, i);
      ConfigFields one(list->items[i], where_, pointer);
      streams::LoopStage stage;
      one.text("name", stage.name);
      stage.device = device(one);
      if (!one.has("layers")) {
        stage.time_ns = time(one, "time");
      } else if (network_ < loop_.stages.size()) {
        static_cast<void>(one.optional_value("layers"));
        one.mistake("layers", "expected them in one stage only");
      } else {
        network_ = i;
        read_layers(one, pointer);
      }
      fields_.take(one.finish());
      loop_.stages.push_back(std::move(stage));
    }
    if (loop_.stages.empty() || loop_.stages.size() > most_loop_stages) {
      fields_.mistake(
          "stages", fmt::format("got {}, expected 1 to {}", loop_.stages.size(), most_loop_stages));
    }
  }

  void read_guests() {
    const ConfigValue* list = fields_.optional_objects("guests");
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      ConfigFields one(list->items[i], where_, fmt::format("{}/guests/{}", pointer_, i));
      streams::LoopGuest guest;
      one.text("name", guest.name);
      guest.device = device(one);
      guest.period_ns = time(one, "period");
      guest.time_ns = time(one, "time");
      // Each turn is an event: a period far below the loop's would never end.
      if (guest.period_ns < loop_.period_ns / 1000) {
        one.mistake("period", "expected at least a thousandth of the loop's period");
      }
      fields_.take(one.finish());
      loop_.guests.push_back(std::move(guest));
    }
  }

  [[nodiscard]] Status check_effort() const {
    double events = 0;
    double span_ns = 0;
    for (const LoopVariant& variant : control_.variants) {
      const streams::LoopEffort effort = streams::effort_of(variant.loop);
      events += effort.events;
      span_ns = std::max(span_ns, effort.span_ns);
    }
    if (events <= most_loop_events && span_ns <= longest_loop_ns) return ok_status();
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: {}/frames: got {}, which may take {:.3g} s and {:.3g} events, "
                             "expected at most {:g} s and {:g} events: fewer frames, or longer "
                             "periods of guests",
                             where_, pointer_, loop_.frames, span_ns * 1e-9, events,
                             longest_loop_ns * 1e-9, most_loop_events)};
  }

  void add_variant(std::string name, const std::vector<double>& kept) {
    LoopVariant variant{.name = std::move(name), .network_ns = 0, .loop = loop_};
    if (network_ < loop_.stages.size()) {
      variant.network_ns = streams::pruned_time_ns(layers_, kept);
      variant.loop.stages[network_].time_ns = std::max<std::int64_t>(1, variant.network_ns);
    }
    control_.variants.push_back(std::move(variant));
  }

  void read_variants() {
    const ConfigValue* list = fields_.optional_objects("variants");
    if (list == nullptr || list->items.empty()) return add_variant("whole", {});
    if (list->items.size() > most_loop_variants) {
      return fields_.mistake("variants", fmt::format("got {}, expected at most {}",
                                                     list->items.size(), most_loop_variants));
    }
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      ConfigFields one(list->items[i], where_, fmt::format("{}/variants/{}", pointer_, i));
      std::string name;
      one.text("name", name);
      std::vector<double> kept;
      if (one.has("kept"))
        one.numbers("kept", kept);
      else
        static_cast<void>(one.optional_value("kept"));
      if (!kept.empty() && kept.size() != layers_.size()) {
        one.mistake("kept", fmt::format("got {} shares, expected one for each of {} layers",
                                        kept.size(), layers_.size()));
      }
      for (const double share : kept) {
        if (share > 0 && share <= 1) continue;
        one.mistake("kept", fmt::format("got {:g}, expected shares above 0, up to 1", share));
      }
      fields_.take(one.finish());
      add_variant(std::move(name), kept);
    }
  }

  ConfigFields fields_;
  const std::string& where_;
  const std::string& pointer_;
  LoopRequest& control_;
  streams::ControlLoop loop_;
  std::vector<streams::PrunedLayer> layers_;
  std::size_t network_ = most_loop_stages + 1;  ///< the stage that has layers
};

}  // namespace

Status read_control(const ConfigValue& value, const std::string& where, const std::string& pointer,
                    LoopRequest& control) {
  return ControlReader(value, where, pointer, control).read();
}

}  // namespace foretrace
