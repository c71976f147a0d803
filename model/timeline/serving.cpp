// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/serving.hpp"

#include <algorithm>

#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

struct Running {
  std::size_t request = 0;
  std::int64_t prompt_done = 0;
  std::int64_t tokens_made = 0;
};

/// What one step holds.
struct Step {
  std::int64_t tokens = 0;
  std::int64_t cached = 0;  ///< tokens read from the cache
  std::int64_t prompt_tokens = 0;
};

class Engine {
 public:
  explicit Engine(const ServingSetup& setup) : setup_(setup) {
    run_.requests.resize(setup.requests.size());
  }

  ServingRun run() {
    while (next_ < setup_.requests.size() || !running_.empty()) {
      if (running_.empty()) now_ = std::max(now_, setup_.requests[next_].arrival);
      admit();
      do_step();
    }
    run_.makespan = now_;
    return std::move(run_);
  }

 private:
  [[nodiscard]] const ServingRequest& request(const Running& r) const {
    return setup_.requests[r.request];
  }

  void admit() {
    while (next_ < setup_.requests.size()) {
      const ServingRequest& candidate = setup_.requests[next_];
      const std::int64_t room = candidate.prompt + candidate.output;
      const auto batch = static_cast<std::int64_t>(running_.size());
      if (candidate.arrival > now_ || batch >= setup_.max_batch) break;
      if (setup_.kv_tokens && kv_ + room > *setup_.kv_tokens) break;
      run_.requests[next_].admitted = now_;
      running_.push_back({next_, 0, 0});
      kv_ += room;
      ++next_;
      run_.peak_batch = std::max(run_.peak_batch, batch + 1);
      run_.peak_kv_tokens = std::max(run_.peak_kv_tokens, kv_);
    }
  }

  /// One token of every sequence whose prompt is done.
  void add_decodes(Step& step) {
    for (Running& r : running_) {
      if (r.prompt_done < request(r).prompt) continue;
      step.cached += request(r).prompt + r.tokens_made;
      ++r.tokens_made;
      ++step.tokens;
    }
  }

  /// Prompts in the order of admission into what is left of the step; whole ones unless `cut`.
  void add_prompts(Step& step, bool cut) {
    for (Running& r : running_) {
      const std::int64_t left = request(r).prompt - r.prompt_done;
      const std::int64_t room = setup_.max_tokens - step.tokens;
      if (left == 0) continue;
      if (room == 0 || (!cut && left > room)) return;
      const std::int64_t taken = std::min(left, room);
      step.cached += r.prompt_done;
      step.tokens += taken;
      step.prompt_tokens += taken;
      r.prompt_done += taken;
      if (taken == left) r.tokens_made = 1;
    }
  }

  void do_step() {
    Step step;
    if (setup_.policy == BatchingPolicy::mixed) {
      add_decodes(step);
      add_prompts(step, true);
    } else {
      add_prompts(step, false);
      if (step.tokens == 0) add_decodes(step);
    }
    FLOORLINE_EXPECT(step.tokens > 0);
    const Seconds time = step_time(setup_.steps, step.tokens) +
                         setup_.per_context_token * static_cast<double>(step.cached);
    now_ += time;
    run_.busy += time;
    ++run_.steps;
    if (step.prompt_tokens == 0) ++run_.decode_steps;
    settle();
  }

  /// Whoever got a first or a last token in the step that has just ended.
  void settle() {
    for (const Running& r : running_) {
      RequestTimes& times = run_.requests[r.request];
      const bool first = r.tokens_made == 1 && !(times.first_token > Seconds(0));
      if (first) times.first_token = now_;
      if (r.tokens_made == request(r).output) {
        times.finished = now_;
        kv_ -= request(r).prompt + request(r).output;
      }
    }
    std::erase_if(running_,
                  [this](const Running& r) { return r.tokens_made == request(r).output; });
  }

  const ServingSetup& setup_;
  ServingRun run_;
  std::vector<Running> running_;
  std::size_t next_ = 0;
  std::int64_t kv_ = 0;
  Seconds now_{0};
};

}  // namespace

Seconds time_to_first_token(const ServingRequest& request, const RequestTimes& times) {
  return times.first_token - request.arrival;
}

std::optional<Seconds> time_per_output_token(const ServingRequest& request,
                                             const RequestTimes& times) {
  if (request.output < 2) return std::nullopt;
  return (times.finished - times.first_token) / static_cast<double>(request.output - 1);
}

Seconds step_time(const std::vector<StepTime>& table, std::int64_t tokens) {
  const auto above =
      std::lower_bound(table.begin(), table.end(), tokens,
                       [](const StepTime& row, std::int64_t t) { return row.tokens < t; });
  FLOORLINE_EXPECT(above != table.end());
  if (above->tokens == tokens || above == table.begin()) return above->time;
  const StepTime& below = *(above - 1);
  const double along = static_cast<double>(tokens - below.tokens) /
                       static_cast<double>(above->tokens - below.tokens);
  return below.time + along * (above->time - below.time);
}

ServingRun run_serving(const ServingSetup& setup) { return Engine(setup).run(); }

}  // namespace floorline
