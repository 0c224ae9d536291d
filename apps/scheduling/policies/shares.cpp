#include "apps/scheduling/policies/shares.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "sim/core/units.h"

namespace foretrace::scheduling {
RoundOptions round_options(const ParamValues& params, bool shuffles_kinds) {
  RoundOptions options{.shuffles_kinds = shuffles_kinds};
  options.reset_ns = params.integer(reset_param);
  options.newcomers_wait = params.text(newcomers_param) == "wait";
  options.seed = static_cast<std::uint64_t>(params.integer(seed_param));
  return options;
}

SharePolicy::SharePolicy(const RoundOptions& options) : options_(options), random_(options.seed) {}

std::size_t& SharePolicy::place_of(const Key& key) {
  if (key.second != none<JobId>) return pairs_.try_emplace(key, nowhere).first->second;
  if (index(key.first) >= alone_.size()) alone_.resize(index(key.first) + 1, nowhere);
  return alone_[index(key.first)];
}

SharePolicy::Entry& SharePolicy::entry(const Key& key, std::size_t kinds) {
  std::size_t& place = place_of(key);
  if (place == nowhere) {
    place = entries_.size();
    entries_.push_back({.row = {.job = key.first, .partner = key.second, .share = {}},
                        .received_s = std::vector<double>(kinds, 0),
                        .deficit_s = std::vector<double>(kinds, 0),
                        .has_share = false});
    entries_.back().row.share.assign(kinds, 0);
  }
  return entries_[place];
}

void SharePolicy::on_arrival(const View& view, JobId job) {
  entry({job, none<JobId>}, view.kinds());
  changed_ = true;
}

void SharePolicy::on_end(const View& /*view*/, JobId job) {
  gone_.push_back(job);
  changed_ = true;
}

void SharePolicy::forget_gone() {
  if (gone_.empty()) return;
  std::sort(gone_.begin(), gone_.end());
  const auto is_gone = [this](JobId job) {
    return std::binary_search(gone_.begin(), gone_.end(), job);
  };
  std::erase_if(entries_, [&](const Entry& entry) {
    return is_gone(entry.row.job) || is_gone(entry.row.partner);
  });
  for (const JobId job : gone_) place_of({job, none<JobId>}) = nowhere;
  gone_.clear();
  pairs_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    place_of({entries_[i].row.job, entries_[i].row.partner}) = i;
  }
}

void SharePolicy::on_run(const Grant& grant, std::int64_t time_ns) {
  const std::size_t place = place_of({grant.job, grant.partner});
  if (place != nowhere) entries_[place].received_s[index(grant.kind)] += seconds(time_ns);
}

Status SharePolicy::reset(const View& view) {
  const double elapsed_s = seconds(view.now_ns - last_reset_ns_);
  for (Entry& entry : entries_) {
    for (std::size_t k = 0; k < view.kinds(); ++k) {
      entry.deficit_s[k] += entry.row.share[k] * elapsed_s - entry.received_s[k];
      entry.received_s[k] = 0;
      entry.row.share[k] = 0;
    }
    entry.has_share = false;
  }
  last_reset_ns_ = view.now_ns;
  changed_ = false;
  FORETRACE_TRY(auto rows, shares(view));
  for (ShareRow& row : rows) {
    Entry& found = entry({row.job, row.partner}, view.kinds());
    found.row.share = std::move(row.share);
    found.has_share = true;
  }
  for (Entry& entry : entries_) entry.has_share |= entry.row.partner == none<JobId>;
  return ok_status();
}

void SharePolicy::grant_kind(const View& view, KindId kind, Offer& offer) {
  const std::size_t k = index(kind);
  // What every job is taken to have received at a reset, so that priorities are finite.
  const double initial_s = std::max(1e-9, seconds(view.period_ns) / 2);
  using Rank = std::tuple<double, double, double>;
  std::vector<std::pair<Rank, std::size_t>> ranked;
  ranked.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const double share = entry.row.share[k];
    const double priority = share / (entry.received_s[k] + initial_s);
    ranked.emplace_back(Rank{-priority, -entry.deficit_s[k], -share}, i);
  }
  // The first of the rest, one by one: a kind is full long before a queue is through.
  std::make_heap(ranked.begin(), ranked.end(), std::greater<>());
  for (auto end = ranked.end(); end != ranked.begin() && offer.free(kind) > 0;) {
    std::pop_heap(ranked.begin(), end, std::greater<>());
    const Entry& entry = entries_[(--end)->second];
    const bool is_pair = entry.row.partner != none<JobId>;
    if (entry.row.share[k] <= 0 && (is_pair || !options_.uses_leftovers)) continue;
    const std::int32_t gpus = view.job(entry.row.job).request.gpus;
    if (offer.has(entry.row.job) || (is_pair && offer.has(entry.row.partner))) continue;
    if (!is_pair && view.rate(entry.row.job, kind) <= 0) continue;
    if (!entry.has_share && options_.newcomers_wait) {
      offer.waste(entry.row.job, kind, gpus);
    } else if (is_pair) {
      offer.grant_pair(entry.row.job, entry.row.partner, kind, gpus);
    } else {
      offer.grant(entry.row.job, kind, gpus);
    }
  }
}

Status SharePolicy::decide(const View& view, Offer& offer) {
  if (order_.empty()) {
    for (std::size_t k = 0; k < view.kinds(); ++k) order_.push_back(make_id<KindId>(k));
  }
  forget_gone();
  const bool is_due = last_reset_ns_ == 0 || view.now_ns - last_reset_ns_ >= options_.reset_ns;
  if (changed_ && is_due) {
    FORETRACE_TRY(reset(view));
  }
  std::vector<KindId> order = order_;
  if (options_.shuffles_kinds) random_.shuffle(order);
  for (const KindId kind : order) grant_kind(view, kind, offer);
  return ok_status();
}

}  // namespace foretrace::scheduling
