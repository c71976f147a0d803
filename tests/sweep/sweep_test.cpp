// SPDX-License-Identifier: Apache-2.0
// A point of a sweep is what bound says of it, bit for bit, wherever the sweep came from.
#include "model/sweep/sweep.hpp"

#include <doctest/doctest.h>

#include "model/input/diagnostic.hpp"
#include "model/report/sweep_writer.hpp"
#include "model/workload/architecture_file.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"
#include "tests/property/random_graph.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

DeviceSpec device(const char* name) { return load_device(name, DevicePath{{"devices"}}); }

std::vector<GridAxis> axes_of(const std::vector<std::string>& texts) {
  std::vector<GridAxis> axes;
  for (const std::string& text : texts) axes.push_back(GridAxis::parse(text));
  return axes;
}

ModelWorkload model(const char* name) {
  return {load_architecture(std::string("workloads/") + name + ".json"), {}, {}, {}};
}

SweepSubject subject_of(const char* name) {
  if (std::string(name).ends_with(".toml"))
    return {read_graph(read_document(std::string("workloads/") + name)), {}};
  return {{}, model(name)};
}

bool same(const ResidencyTimes& a, const ResidencyTimes& b) {
  return a.cold.in_base_units() == b.cold.in_base_units() &&
         a.any.in_base_units() == b.any.in_base_units();
}

/// One point by the calls of bound, from nothing.
SweepRow by_itself(const SweepSubject& subject, DeviceSpec spec, const Grid& grid,
                   const std::vector<std::uint64_t>& digits) {
  SweepRow row;
  try {
    SweepSubject s = subject;
    Diagnostics diagnostics;
    for (std::size_t a = 0; a < digits.size(); ++a) {
      const Assignment value = grid.axes()[a].assignment(digits[a]);
      if (names_device_key(value.name)) {
        assign(spec, value);
      } else if (s.graph) {
        assign(*s.graph, value);
      } else {
        const SymbolResult r =
            apply_symbol(value.name, value.value, s.model->scenario, s.model->layout);
        if (!r.error.empty()) diagnostics.add({}, value.name, r.error);
      }
    }
    diagnostics.throw_if_any();
    const Machine machine = machine_of(std::move(spec), {});
    const auto take = [&row](const Evaluation& e) {
      row.values.fused = e.floors.fused;
      row.values.critical_path = e.floors.critical_path;
      row.values.serial = e.floors.serial;
      row.values.binding = e.floors.serial_binding;
      row.values.fused_binding = e.floors.fused_binding;
    };
    if (s.graph) {
      take(evaluate(*s.graph, machine));
    } else {
      const ModelEvaluation e = evaluate_model(*s.model, machine);
      take(e.shown);
      row.values.model =
          SweepModelValues{e.floors.step, e.floors.tokens_per_s_ceiling, e.floors.resident, {}};
    }
  } catch (const InputError& error) {
    row.reason = error.diagnostics().front().message;
  }
  return row;
}

void check_all(const char* workload, const std::vector<std::string>& grid_texts,
               const std::vector<const char*>& devices, std::size_t fail_at_most) {
  const SweepSubject subject = subject_of(workload);
  std::vector<DeviceSpec> specs;
  for (const char* name : devices) specs.push_back(device(name));
  Sweep sweep(subject, specs, {}, Grid(axes_of(grid_texts), specs.size()));
  std::vector<std::uint64_t> digits(grid_texts.size());
  std::size_t failed = 0;
  std::uint64_t next = 0;
  sweep.run({0, sweep.grid().points()}, [&](std::span<const SweepRow> rows) {
    for (const SweepRow& row : rows) {
      CAPTURE(row.point);
      CHECK(row.point == next++);
      const std::uint64_t d = sweep.grid().place(row.point, digits);
      CHECK(row.device == d);
      const SweepRow own = by_itself(subject, specs[d], sweep.grid(), digits);
      CHECK(row.reason.empty() == own.reason.empty());
      if (!own.reason.empty()) {
        ++failed;
        CHECK(row.reason.find(own.reason) != std::string::npos);
        continue;
      }
      CHECK(same(row.values.fused, own.values.fused));
      CHECK(same(row.values.critical_path, own.values.critical_path));
      CHECK(same(row.values.serial, own.values.serial));
      CHECK(row.values.binding == own.values.binding);
      CHECK(row.values.fused_binding == own.values.fused_binding);
      if (own.values.model) {
        REQUIRE(row.values.model);
        CHECK(row.values.model->step.in_base_units() == own.values.model->step.in_base_units());
        CHECK(row.values.model->tokens_per_s_ceiling == own.values.model->tokens_per_s_ceiling);
        CHECK(row.values.model->resident == own.values.model->resident);
      }
    }
    return true;
  });
  CHECK(next == sweep.grid().points());
  CHECK(failed <= fail_at_most);
}

std::string written(const SweepSubject& subject, const std::vector<std::string>& grid_texts,
                    SweepFormat format, std::uint64_t parts) {
  std::string text;
  for (std::uint64_t part = 1; part <= parts; ++part) {
    Sweep sweep(subject, {device("h100_sxm")}, {}, Grid(axes_of(grid_texts), 1));
    SweepHead head;
    head.devices = {"h100_sxm"};
    head.model = subject.model.has_value();
    SweepWriter writer(format, head, sweep.grid(), [&text](std::string_view t) { text += t; });
    if (part == 1) writer.begin();
    sweep.run(sweep.grid().part(part, parts), [&](std::span<const SweepRow> rows) {
      writer.write(rows);
      return true;
    });
    if (part == parts) writer.end();
  }
  return text;
}

}  // namespace

TEST_SUITE("sweep") {
  TEST_CASE("points of a dense model equal bound") {
    check_all("llama-3.1-70b", {"tp=1,4,6,8", "batch=1,3,64", "context=1..70000:*37"},
              {"h100_sxm", "b200"}, 2 * 12);  // tp = 6 divides neither 64 heads nor 8
  }
  TEST_CASE("points of routed, latent and recurrent models equal bound") {
    check_all("deepseek-v3", {"context=100,3000", "batch=1,7,200"}, {"h200_sxm"}, 0);
    check_all("qwen3-30b-a3b", {"batch=1,7,200", "weight_dtype=bf16,fp8"}, {"h200_sxm"}, 0);
    check_all("gpt-oss-20b", {"batch=1,7", "context=10,200,4000"}, {"h200_sxm"}, 0);
  }
  TEST_CASE("points of a prefill, of pipeline stages and of sizes that are none") {
    check_all("llama-3.1-8b", {"phase=prefill,decode", "prompt=1,100,2000", "batch=1,2"},
              {"h100_sxm"}, 0);
    check_all("llama-3.1-8b", {"pp=1,2", "batch=1,5"}, {"h100_sxm"}, 0);
    check_all("llama-3.1-8b", {"tokens_per_step=1,3", "context=512,1.5,-1,2048"}, {"h100_sxm"}, 4);
  }
  TEST_CASE("points of graphs equal bound: symbols, device keys, precision by hand") {
    check_all("transformer_block.toml",
              {"seq=1..4096:*8", "layers=0,1,32", "memory.hbm.bandwidth*=0.5,1"}, {"h100_sxm"}, 0);
    check_all("attention_naive.toml", {"seq=128,1000.5,256", "op.scores.bytes*=1,2"}, {"l40s"}, 2);
    // k of the product no longer agrees with the tensors: bound refuses, and so does the row.
    check_all("gemm_skinny.toml", {"m=1..64:*4"}, {"h100_sxm"}, 0);
  }
  TEST_CASE("after a point that cannot be, the next ones are right again") {
    check_all("transformer_block.toml", {"seq=64,0.5,64,128,0.5,256", "layers=2,3"}, {"h100_sxm"},
              4);
  }

  TEST_CASE("random graphs, random points") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      OperatorGraph graph = random_graph(dice, true);
      graph.set_symbol("s", 1);
      Diagnostics diagnostics;
      for (Tensor& t : graph.tensors) {
        if (dice.chance(40))
          t.shape.push_back(Expression::parse("s", graph.symbols, {}, "", diagnostics));
      }
      const Machine machine = round_machine();
      Sweep sweep({graph, {}}, {machine.device}, {}, Grid(axes_of({"s=1,5,2,9,9,1"}), 1));
      sweep.run({0, 6}, [&](std::span<const SweepRow> rows) {
        for (const SweepRow& row : rows) {
          OperatorGraph own = graph;
          const double values[] = {1, 5, 2, 9, 9, 1};
          own.set_symbol("s", values[row.point]);
          try {
            const Evaluation e = evaluate(own, machine);
            CHECK(row.reason.empty());
            CHECK(same(row.values.fused, e.floors.fused));
            CHECK(same(row.values.critical_path, e.floors.critical_path));
            CHECK(same(row.values.serial, e.floors.serial));
          } catch (const InputError&) {
            CHECK_FALSE(row.reason.empty());
          }
        }
        return true;
      });
    }
  }

  TEST_CASE("parts concatenate to the whole") {
    const SweepSubject subject = subject_of("llama-3.1-8b");
    const std::vector<std::string> grid{"tp=1,3", "batch=1..5:+1", "context=1024,2048"};
    for (const SweepFormat format : {SweepFormat::csv, SweepFormat::json}) {
      const std::string whole = written(subject, grid, format, 1);
      CHECK(written(subject, grid, format, 3) == whole);
      CHECK(written(subject, grid, format, 50) == whole);
    }
    const Node read = parse_json(written(subject, grid, SweepFormat::json, 4), "sweep.json");
    REQUIRE(read.find("points") != nullptr);
    CHECK(read.find("points")->items.size() == 20);
  }

  TEST_CASE("a name that nothing has is an error before any point") {
    CHECK_THROWS_AS(check_all("llama-3.1-8b", {"bach=1,2"}, {"h100_sxm"}, 0), InputError);
    CHECK_THROWS_AS(check_all("vector_add.toml", {"m=1,2"}, {"h100_sxm"}, 0), InputError);
    CHECK_THROWS_AS(check_all("llama-3.1-8b", {"batch*=1,2"}, {"h100_sxm"}, 0), InputError);
  }

  TEST_CASE("stops when told to, long before the end") {
    const SweepSubject subject = subject_of("llama-3.1-8b");
    Sweep sweep(subject, {device("h100_sxm")}, {},
                Grid(axes_of({"batch=1..1e6:+1", "context=1..1e6:+1"}), 1));
    int chunks = 0;
    sweep.run({0, sweep.grid().points()}, [&](std::span<const SweepRow> rows) {
      CHECK(rows.size() == Sweep::kChunk);
      return ++chunks < 3;
    });
    CHECK(chunks == 3);
  }
}
