#include "trace/annotate/layers.h"

#include <map>
#include <string>
#include <utility>

namespace foretrace::trace {
namespace {

class LayerPass {
 public:
  explicit LayerPass(Attribution& attribution)
      : attribution_(attribution),
        events_(attribution.events),
        result_(attribution.result),
        origin_(attribution.events.size(), Origin::none),
        known_by_name_(events_.names.size(), not_looked_up) {}

  /// Forward threads first: the backward takes its layers from them.
  void run() {
    for (const bool engine : {false, true}) {
      for (std::size_t t = 0; t < events_.tracks.size(); ++t) {
        if (attribution_.is_autograd_track[t] == engine) visit(make_id<TrackId>(t));
      }
    }
  }

 private:
  enum class Origin : std::uint8_t { none, module, node, previous_node };
  struct Layer {
    std::uint32_t number = 0;
    Origin origin = Origin::none;
  };
  static constexpr std::uint32_t not_looked_up = 0xFFFFFFFFU;
  static constexpr std::uint32_t no_module = 0xFFFFFFFEU;

  void visit(TrackId track) {
    Layer last_node;
    for (const EventId event : attribution_.nesting.of(track)) {
      const EventId parent = attribution_.nesting.parent_of(event);
      Layer layer = parent == none<EventId> ? Layer{} : layer_of(parent);
      const EventId source = attribution_.links.source[index(event)];
      if (source != none<EventId>) {
        layer = {result_.layer[index(source)], Origin::node};
        last_node = {layer.number, Origin::previous_node};
      } else if (layer.number == 0 && continues_node(event)) {
        layer = last_node;
      }
      // What a node gave is no container: a module inside it is being recomputed.
      const std::uint32_t outer = layer.origin == Origin::module ? layer.number : 0;
      if (const std::uint32_t own = module_at(event, outer); own != 0) {
        layer = {own, Origin::module};
      }
      // A bucket of gradients is sent from the hook of its last one, and holds many layers.
      if (layer.origin == Origin::previous_node &&
          result_.phase[index(event)] == Phase::communication) {
        layer = {};
      }
      result_.layer[index(event)] = layer.number;
      origin_[index(event)] = layer.origin;
    }
  }

  [[nodiscard]] Layer layer_of(EventId event) const {
    return {result_.layer[index(event)], origin_[index(event)]};
  }

  /// True for gradient accumulation, and for operators between nodes on an engine thread: the
  /// engine adds into gradients as soon as the node that made them is done.
  [[nodiscard]] bool continues_node(EventId event) {
    if (result_.phase[index(event)] != Phase::backward) return false;
    if (attribution_.meanings(event).accumulates) return true;
    return attribution_.nesting.parent_of(event) == none<EventId> &&
           attribution_.is_autograd_track[index(events_.track[index(event)])] &&
           !attribution_.meanings(event).is_autograd_node;
  }

  /// The module that this event opens inside `outer`; 0 if it opens none.
  std::uint32_t module_at(EventId event, std::uint32_t outer) {
    const EventKind kind = events_.kind[index(event)];
    const std::size_t name = index(events_.name[index(event)]);
    if (kind == EventKind::runtime || known_by_name_[name] == no_module) return 0;
    if (known_by_name_[name] == not_looked_up) {
      const std::string module = module_of(kind, events_.name_of(event));
      known_by_name_[name] = no_module;
      if (module.empty()) return 0;
      known_by_name_[name] = static_cast<std::uint32_t>(module_names_.size());
      module_names_.push_back(module);
      first_seen_.push_back(0);
    }
    return open(known_by_name_[name], outer);
  }

  /// Recomputation runs a module without what was around it in the forward: its name tells, since
  /// the profiler numbers the instances of a class.
  std::uint32_t open(std::uint32_t name, std::uint32_t outer) {
    if (outer == 0 && first_seen_[name] != 0) return first_seen_[name];
    const auto [place, is_new] = indices_.try_emplace(std::pair(outer, name), 0U);
    if (is_new) {
      const std::string& text = module_names_[name];
      place->second = static_cast<std::uint32_t>(result_.modules.size());
      result_.modules.push_back({outer == 0 ? text : path_of(outer, text), outer});
      if (first_seen_[name] == 0) first_seen_[name] = place->second;
    }
    return place->second;
  }

  /// Modules in modules, however many: of a path that is too long the end stays.
  [[nodiscard]] std::string path_of(std::uint32_t outer, const std::string& text) const {
    constexpr std::size_t longest = 1000;  // those of deep models have some 200
    std::string path = result_.modules[outer].name + '/' + text;
    if (path.size() > longest) {
      const auto cut = path.find('/', path.size() - longest);
      path = ".../" + (cut == std::string::npos ? text : path.substr(cut + 1));
    }
    return path;
  }

  Attribution& attribution_;
  const EventTable& events_;
  Annotation& result_;
  std::vector<Origin> origin_;                // per event
  std::vector<std::uint32_t> known_by_name_;  // index of module_names_ per event name
  std::vector<std::string> module_names_;
  std::vector<std::uint32_t> first_seen_;  // module index where a name was seen first
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> indices_;  // (outer, name)
};

}  // namespace

void attribute_layers(Attribution& attribution) { LayerPass(attribution).run(); }

}  // namespace foretrace::trace
