// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/layer_offload.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/quantity/unit_names.hpp"
#include "model/timeline/kinds/kind_keys.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kMostLayers = 2'000;
constexpr std::int64_t kMostLayerRuns = 100'000;  ///< tokens x layers

bool is_offloaded(const LayerOffload& in, std::int64_t layer) {
  switch (in.placement) {
    case Placement::first:
      return layer < in.offloaded;
    case Placement::last:
      return layer >= in.layers - in.offloaded;
    case Placement::spread:  // where i x offloaded / layers steps
      return (layer + 1) * in.offloaded / in.layers > layer * in.offloaded / in.layers;
  }
  return false;
}

Pipeline pipeline_of(const LayerOffload& in) {
  Pipeline p;
  p.name = "layer offload";
  p.items = in.tokens;
  const PoolId link = p.add(Pool{.name = "h2d", .kind = PoolKind::h2d, .queue = Queue::in_order});
  const PoolId gpu = p.add(Pool{.name = "gpu", .kind = PoolKind::gpu, .queue = Queue::in_order});
  std::vector<StageId> copies;
  std::vector<StageId> readers;  // the compute of each offloaded layer
  StageId before{};
  for (std::int64_t layer = 0; layer < in.layers; ++layer) {
    Stage compute{.name = "layer " + std::to_string(layer),
                  .pool = gpu,
                  .time = {in.layer_time, {}},
                  .sequence = layer,
                  .group = "compute"};
    if (layer > 0) compute.after.push_back({before});
    const bool offloaded = is_offloaded(in, layer);
    if (offloaded) {
      copies.push_back(p.add(Stage{.name = "copy " + std::to_string(layer),
                                   .pool = link,
                                   .time = {in.copy_time(), {}},
                                   .sequence = layer,
                                   .group = "copy"}));
      compute.after.push_back({copies.back()});
    }
    before = p.add(std::move(compute));
    if (layer == 0) readers.reserve(static_cast<std::size_t>(in.layers));
    if (offloaded) readers.push_back(before);
  }
  // Token t + 1 begins with what token t ended with.
  const std::size_t first = is_offloaded(in, 0) ? 1 : 0;
  p.stages[first].after.push_back({before, 1});
  const auto n = static_cast<std::int64_t>(copies.size());
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t back = in.prefetch + 1;
    const std::int64_t tokens_back = j >= back ? 0 : (back - j + n - 1) / n;
    const auto freed = static_cast<std::size_t>(j - back + tokens_back * n);
    p.stages[index_of(copies[static_cast<std::size_t>(j)])].after.push_back(
        {readers[freed], tokens_back, Event::finish, DependencyKind::credit});
  }
  return p;
}

Seconds token_time(const LayerOffload& in) {
  const Pipeline p = pipeline_of(in);
  ScheduleOptions options;
  options.record = false;
  return item_period(make_schedule(p, options));
}

std::string rate_text(double tokens_per_s) { return number_text(tokens_per_s) + " token/s"; }

std::vector<Fact> solve(const LayerOffload& in) {
  std::vector<Fact> facts;
  const double target = *in.target_tokens_per_s;
  const std::string at = " for " + rate_text(target);
  facts.push_back(count_fact("offloaded_layers_at_most_by_link", "layers the link allows" + at,
                             most_layers_by_link(in, target)));
  if (const auto most = most_layers_scheduled(in, target)) {
    facts.push_back(
        count_fact("offloaded_layers_at_most", "layers this schedule allows" + at, *most));
  }
  return facts;
}

std::vector<Fact> facts_of(const LayerOffload& in, const Schedule& schedule) {
  std::vector<Fact> facts;
  const Seconds period = item_period(schedule);
  if (period > Seconds(0)) {
    facts.push_back(number_fact("tokens_per_s", "rate of this schedule", 1 / period.in_base_units(),
                                "token/s"));
  }
  if (in.target_tokens_per_s) {
    for (Fact& fact : solve(in)) facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace

std::int64_t most_layers_by_link(const LayerOffload& in, double tokens_per_s) {
  const double copy = in.copy_time().in_base_units();
  if (!(copy > 0)) return in.layers;
  const double most = std::floor(1 / (tokens_per_s * copy) * (1 + 1e-12));
  return most < static_cast<double>(in.layers) ? static_cast<std::int64_t>(most) : in.layers;
}

std::optional<std::int64_t> most_layers_scheduled(LayerOffload in, double tokens_per_s) {
  const Seconds allowed(1 / tokens_per_s * (1 + 1e-12));
  const auto reaches = [&in, allowed](std::int64_t offloaded) {
    in.offloaded = offloaded;
    return token_time(in) <= allowed;
  };
  if (!reaches(0)) return std::nullopt;
  std::int64_t yes = 0;
  std::int64_t no = most_layers_by_link(in, tokens_per_s) + 1;
  while (no - yes > 1) {
    const std::int64_t middle = yes + (no - yes) / 2;
    (reaches(middle) ? yes : no) = middle;
  }
  return yes;
}

LayerOffload read_layer_offload(TableReader& table, std::vector<std::string>& assumptions) {
  LayerOffload in;
  in.tokens = count_key(table, "tokens", {3, 100'000, 4});
  in.layers = required_count(table, "layers", 1, kMostLayers);
  in.offloaded = required_count(table, "offloaded", 0, kMostLayers);
  if (in.offloaded > in.layers) {
    table.error("offloaded", "is " + std::to_string(in.offloaded) + " of " +
                                 std::to_string(in.layers) + " layers");
    in.offloaded = in.layers;
  }
  if (in.tokens * in.layers > kMostLayerRuns) {
    table.error("tokens", "times layers is " + std::to_string(in.tokens * in.layers) +
                              "; expected at most " + std::to_string(kMostLayerRuns));
    in.tokens = 3;
  }
  in.prefetch = count_key(table, "prefetch", {0, kMostLayers, 1});
  in.placement = static_cast<Placement>(word_key(table, "placement", {"spread", "first", "last"}));
  in.layer_bytes = required_bytes(table, "layer_bytes");
  in.bandwidth = required_bandwidth(table, "bandwidth");
  in.latency = table.quantity<Seconds>("latency").value_or(Seconds(0));
  in.layer_time = time_or_zero(
      table, "layer_time", "computing a layer takes no time: the link alone is asked", assumptions);
  in.target_tokens_per_s = table.number("target_tokens_per_s");
  if (in.target_tokens_per_s && !(*in.target_tokens_per_s > 0)) {
    table.error("target_tokens_per_s", "expected a rate above zero");
    in.target_tokens_per_s.reset();
  }
  return in;
}

BuiltKind build(const LayerOffload& in) {
  BuiltKind kind;
  kind.kind = "layer_offload";
  kind.pipeline = pipeline_of(in);
  const auto n = static_cast<double>(in.offloaded);
  kind.facts.push_back(
      bytes_fact("bytes_per_token", "over the link per token", n * in.layer_bytes));
  const Seconds link = n * in.copy_time();
  if (link > Seconds(0)) {
    kind.facts.push_back(time_fact("link_time_per_token_s", "link time per token", link));
    kind.facts.push_back(number_fact("tokens_per_s_ceiling", "the link allows at most",
                                     1 / link.in_base_units(), "token/s"));
  }
  kind.after = [in](const Pipeline&, const Schedule& schedule) { return facts_of(in, schedule); };
  return kind;
}

}  // namespace floorline
