// SPDX-License-Identifier: Apache-2.0
#include "model/report/gantt.hpp"

#include <algorithm>
#include <string>

#include "model/quantity/unit_names.hpp"
#include "model/report/utf8.hpp"

namespace floorline {

namespace {

constexpr std::size_t kSlices = 56;  // with a name of 20 columns: fits 80
constexpr std::size_t kNameWidth = 20;
constexpr std::size_t kMostRows = 24;
constexpr std::size_t kMostServers = 4;  // more of one resource share a row
constexpr std::int64_t kFoldBeyond = 8;  // first items' times, beyond which a run is folded
constexpr std::int64_t kShown = 3;       // of them in each window

struct Window {
  Ticks from = 0;
  Ticks to = 0;
};

/// Stage letters by group: A, B, … Z, then #. Odd items are small letters.
class Letters {
 public:
  explicit Letters(const Timeline& timeline, std::size_t stages) : of_(stages, '#') {
    for (std::size_t g = 0; g < timeline.groups.size() && g < 26; ++g)
      for (const StageId id : timeline.groups[g].stages)
        of_[index_of(id)] = static_cast<char>('A' + static_cast<char>(g));
  }
  [[nodiscard]] char of(StageId stage, std::int64_t item) const {
    const char c = of_[index_of(stage)];
    return item % 2 == 1 && c != '#' ? static_cast<char>(c - 'A' + 'a') : c;
  }

 private:
  std::vector<char> of_;
};

/// Per slice: the longest time of one letter, the time held, the time of all.
struct Row {
  std::string name;
  std::size_t servers = 1;
  std::vector<Ticks> longest = std::vector<Ticks>(kSlices, 0);
  std::vector<char> letter = std::vector<char>(kSlices, '.');
  std::vector<Ticks> held = std::vector<Ticks>(kSlices, 0);
  std::vector<Ticks> busy = std::vector<Ticks>(kSlices, 0);
  bool used = false;
};

class Chart {
 public:
  Chart(const Pipeline& p, const Timeline& t, Window window)
      : p_(p), s_(t.schedule), letters_(t, p.stages.size()), window_(window) {
    make_rows();
    for (const TaskId task : s_.order) add(task);
  }

  Table table(const std::string& title) const {
    Table table;
    table.title = title;
    table.columns = {{"", false}, {scale(), false, true}};
    for (const Row& row : rows_) {
      if (!row.used) continue;
      if (table.rows.size() == kMostRows) {
        table.footnotes.push_back("rows beyond " + std::to_string(kMostRows) + " are left out");
        break;
      }
      table.rows.push_back({cut_to_width(row.name, kNameWidth), text(row)});
    }
    return table;
  }

 private:
  /// "0 s                 825.0 ms"
  [[nodiscard]] std::string scale() const {
    std::string text = to_text(s_.time_of(window_.from));
    const std::string end = to_text(s_.time_of(window_.to));
    while (display_width(text) + display_width(end) < kSlices) text += ' ';
    return text + end;
  }

  void make_rows() {
    std::vector<std::size_t> lanes(p_.pools.size(), 1);
    for (std::size_t t = 0; t < s_.server.size(); ++t) {
      const std::size_t pool = index_of(p_.stages[t % s_.stages].pool);
      lanes[pool] = std::max(lanes[pool], std::size_t{s_.server[t]} + 1);
    }
    for (std::size_t r = 0; r < p_.pools.size(); ++r) {
      first_row_.push_back(rows_.size());
      const bool each = lanes[r] <= kMostServers;
      together_.push_back(!each);
      for (std::size_t k = 0; k < (each ? lanes[r] : 1); ++k) {
        Row row;
        row.name = p_.pools[r].name;
        if (each && lanes[r] > 1) row.name += " " + std::to_string(k);
        if (!each) row.name += " x" + std::to_string(lanes[r]);
        row.servers = each ? 1 : lanes[r];
        rows_.push_back(std::move(row));
      }
    }
  }

  void add(TaskId task) {
    const auto t = static_cast<std::size_t>(task);
    const StageId stage = s_.stage_of(task);
    const std::size_t pool = index_of(p_.stages[index_of(stage)].pool);
    Row& row = rows_[first_row_[pool] + (together_[pool] ? 0 : s_.server[t])];
    row.used = row.used || s_.end[t] > s_.start[t];
    const char letter = letters_.of(stage, s_.item_of(task));
    spread(s_.start[t], s_.end[t], [&](std::size_t slice, Ticks part) {
      row.busy[slice] += part;
      if (part <= row.longest[slice]) return;
      row.longest[slice] = part;
      row.letter[slice] = letter;
    });
    if (s_.release.empty()) return;
    spread(s_.end[t], s_.release[t],
           [&](std::size_t slice, Ticks part) { row.held[slice] += part; });
  }

  template <class Add>
  void spread(Ticks from, Ticks to, const Add& add) const {
    from = std::max(from, window_.from);
    to = std::min(to, window_.to);
    if (from >= to) return;
    for (std::size_t slice = slice_of(from); slice < kSlices; ++slice) {
      const Ticks part = std::min(to, edge(slice + 1)) - std::max(from, edge(slice));
      if (part <= 0 && edge(slice) >= to) return;
      if (part > 0) add(slice, part);
    }
  }
  [[nodiscard]] Ticks edge(std::size_t slice) const {
    const long double share = static_cast<long double>(slice) / kSlices;
    return window_.from +
           static_cast<Ticks>(share * static_cast<long double>(window_.to - window_.from));
  }
  [[nodiscard]] std::size_t slice_of(Ticks at) const {
    const long double share = static_cast<long double>(at - window_.from) /
                              static_cast<long double>(window_.to - window_.from);
    const auto slice = static_cast<std::size_t>(share * kSlices);
    return slice > 0 ? std::min(slice, kSlices) - 1 : 0;
  }

  [[nodiscard]] std::string text(const Row& row) const {
    std::string text;
    for (std::size_t i = 0; i < kSlices; ++i) {
      const Ticks width = edge(i + 1) - edge(i);
      if (row.servers > 1) {
        text += tenths(row.busy[i], width * static_cast<Ticks>(row.servers));
      } else if (2 * row.busy[i] >= width || row.busy[i] > row.held[i]) {
        text += row.letter[i];
      } else {
        text += row.held[i] > 0 ? '=' : '.';
      }
    }
    return text;
  }
  /// The share of many servers that is busy, in tenths; * for all.
  static char tenths(Ticks busy, Ticks all) {
    if (busy <= 0 || all <= 0) return '.';
    const auto n =
        static_cast<int>(static_cast<long double>(busy) * 10 / static_cast<long double>(all));
    return n >= 10 ? '*' : static_cast<char>('0' + n);
  }

  const Pipeline& p_;
  const Schedule& s_;
  Letters letters_;
  Window window_;
  std::vector<Row> rows_;
  std::vector<std::size_t> first_row_;
  std::vector<bool> together_;
};

std::string legend(const Pipeline& pipeline, const Timeline& timeline) {
  std::string text;
  for (std::size_t g = 0; g < timeline.groups.size(); ++g) {
    if (timeline.groups[g].busy == Seconds(0)) continue;
    if (g >= 26) {
      text += ", # the others";
      break;
    }
    text += (text.empty() ? "" : ", ");
    text += std::string(1, static_cast<char>('A' + static_cast<char>(g))) + " " +
            timeline.groups[g].name;
  }
  if (pipeline.items > 1) text += "; small letters: odd items";
  text += "; . idle";
  if (!pipeline.buffers.empty()) text += ", = held by a full buffer";
  const std::vector<std::uint32_t>& server = timeline.schedule.server;
  const bool many =
      std::any_of(server.begin(), server.end(), [](std::uint32_t k) { return k >= kMostServers; });
  return many ? text + ", 0 … 9 and *: tenths of many servers busy" : text;
}

}  // namespace

std::vector<Table> gantt_tables(const Pipeline& pipeline, const Timeline& timeline) {
  const Schedule& s = timeline.schedule;
  if (s.makespan_ticks == 0) return {};
  const Ticks first = std::max<Ticks>(s.completion.front(), 1);
  std::vector<Table> tables;
  if (s.makespan_ticks / first < kFoldBeyond) {
    tables.push_back(Chart(pipeline, timeline, {0, s.makespan_ticks}).table("Chart"));
  } else {
    const Ticks shown = kShown * first;
    tables.push_back(Chart(pipeline, timeline, {0, shown}).table("Chart, the beginning"));
    tables.push_back(Chart(pipeline, timeline, {s.makespan_ticks - shown, s.makespan_ticks})
                         .table("Chart, the end"));
  }
  tables.back().footnotes.push_back(legend(pipeline, timeline));
  return tables;
}

}  // namespace floorline
