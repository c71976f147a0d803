// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/serving.hpp"

#include <algorithm>
#include <deque>

#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

/// A request whose prompt is being read, or whose answer is being written.
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
  std::size_t prompts_ended = 0;  ///< of the first in the queue
};

/// Work is proportional to tokens: a step touches only sequences that get or give one.
class Engine {
 public:
  explicit Engine(const ServingSetup& setup) : setup_(setup) {
    run_.requests.resize(setup.requests.size());
  }

  ServingRun run() {
    while (next_ < setup_.requests.size() || batch() > 0) {
      if (batch() == 0) now_ = std::max(now_, setup_.requests[next_].arrival);
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
  [[nodiscard]] std::int64_t batch() const {
    return static_cast<std::int64_t>(prompts_.size() + decoding_.size());
  }

  void admit() {
    while (next_ < setup_.requests.size()) {
      const ServingRequest& candidate = setup_.requests[next_];
      const std::int64_t room = candidate.prompt + candidate.output;
      if (candidate.arrival > now_ || batch() >= setup_.max_batch) break;
      if (setup_.kv_tokens && kv_ + room > *setup_.kv_tokens) break;
      run_.requests[next_].admitted = now_;
      prompts_.push_back({next_, 0, 0});
      kv_ += room;
      ++next_;
      run_.peak_batch = std::max(run_.peak_batch, batch());
      run_.peak_kv_tokens = std::max(run_.peak_kv_tokens, kv_);
    }
  }

  /// One token of every sequence whose prompt is done.
  void add_decodes(Step& step) {
    for (Running& r : decoding_) {
      step.cached += request(r).prompt + r.tokens_made;
      ++r.tokens_made;
      ++step.tokens;
    }
  }

  /// Prompts in the order of admission into what is left of the step; whole ones unless `cut`.
  void add_prompts(Step& step, bool cut) {
    for (Running& r : prompts_) {
      const std::int64_t left = request(r).prompt - r.prompt_done;
      const std::int64_t room = setup_.max_tokens - step.tokens;
      if (room == 0 || (!cut && left > room)) return;
      const std::int64_t taken = std::min(left, room);
      step.cached += r.prompt_done;
      step.tokens += taken;
      step.prompt_tokens += taken;
      r.prompt_done += taken;
      if (taken < left) return;
      ++step.prompts_ended;
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
    if (step.prompt_tokens < step.tokens) end_decodes();
    end_prompts(step);
  }

  void end_decodes() {
    std::erase_if(decoding_, [this](const Running& r) { return ends(r); });
  }

  /// A prompt that has ended gave the first token.
  void end_prompts(const Step& step) {
    for (std::size_t i = 0; i < step.prompts_ended; ++i) {
      Running r = prompts_.front();
      prompts_.pop_front();
      r.tokens_made = 1;
      run_.requests[r.request].first_token = now_;
      if (!ends(r)) decoding_.push_back(r);
    }
  }

  /// True, and noted, when the step that has just ended gave the last token.
  bool ends(const Running& r) {
    if (r.tokens_made < request(r).output) return false;
    run_.requests[r.request].finished = now_;
    kv_ -= request(r).prompt + request(r).output;
    return true;
  }

  const ServingSetup& setup_;
  ServingRun run_;
  std::deque<Running> prompts_;  ///< in the order of admission
  std::vector<Running> decoding_;
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
