// SPDX-License-Identifier: Apache-2.0
// Fair sharing against the same rule written with remaining work: between two events each of n
// running tasks loses dt x min(1, servers / n).
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "model/timeline/schedule.hpp"

namespace floorline {

namespace {

struct Job {
  double arrives = 0;
  double work = 0;
  double left = 0;
  double ends = -1;
};

void run(std::vector<Job>& jobs, double servers) {
  double now = 0;
  for (Job& job : jobs) job.left = job.work;
  while (std::any_of(jobs.begin(), jobs.end(), [](const Job& j) { return j.ends < 0; })) {
    double next = 1e300;
    double running = 0;
    for (const Job& job : jobs) {
      if (job.ends >= 0) continue;
      if (job.arrives > now) next = std::min(next, job.arrives);
      if (job.arrives <= now) ++running;
    }
    const double rate = running > 0 ? std::min(1.0, servers / running) : 1;
    for (const Job& job : jobs)
      if (job.ends < 0 && job.arrives <= now) next = std::min(next, now + job.left / rate);
    for (Job& job : jobs) {
      if (job.ends >= 0 || job.arrives > now) continue;
      job.left -= (next - now) * rate;
      if (job.left < 1e-9) job.ends = next;
    }
    now = next;
  }
}

}  // namespace

TEST_SUITE_BEGIN("timeline");

TEST_CASE("fair sharing equals the rule by remaining work on 500 random sets of tasks") {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&random](unsigned n) { return static_cast<int>(random() % n); };
    Pipeline p;
    Pool pool;
    pool.name = "link";
    pool.servers = 1 + pick(3);
    pool.sharing = Sharing::fair;
    const PoolId link = p.add(pool);
    std::vector<Job> jobs;
    for (int k = 1 + pick(8); k > 0; --k) {
      Job job;
      job.arrives = pick(20);
      job.work = 1 + pick(10);
      Stage stage;
      stage.name = "t" + std::to_string(k);
      stage.pool = link;
      stage.time.constant = seconds(job.work);
      stage.not_before = seconds(job.arrives);
      p.add(stage);
      jobs.push_back(job);
    }
    run(jobs, static_cast<double>(pool.servers));
    const Schedule s = make_schedule(p);
    for (std::uint32_t t = 0; t < jobs.size(); ++t) {
      CAPTURE(t);
      REQUIRE(s.start_of(StageId{t}, 0) == seconds(jobs[t].arrives));
      REQUIRE(s.end_of(StageId{t}, 0).in_base_units() ==
              doctest::Approx(jobs[t].ends).epsilon(1e-9));
    }
  }
}

TEST_SUITE_END();

}  // namespace floorline
