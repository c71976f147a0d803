// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/pipeline_file.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/input/table_reader.hpp"
#include "model/timeline/stage_time_file.hpp"

namespace floorline {

namespace {

constexpr std::size_t kMostStages = 20'000;   // of a file written by hand or by a script
constexpr std::size_t kMostSuggested = 1000;  // names compared with a mistyped one
constexpr std::int64_t kMostItems = 1'000'000'000'000;

struct KindWord {
  const char* word;
  PoolKind kind;
};
/// Kinds, and what a resource of that name is without a [[resource]].
constexpr std::array<KindWord, 10> kKinds{{{"cpu", PoolKind::cpu},
                                           {"host", PoolKind::host},
                                           {"h2d", PoolKind::h2d},
                                           {"d2h", PoolKind::d2h},
                                           {"gpu", PoolKind::gpu},
                                           {"link", PoolKind::link},
                                           {"peer", PoolKind::link},
                                           {"network", PoolKind::network},
                                           {"storage", PoolKind::storage},
                                           {"other", PoolKind::other}}};

std::optional<PoolKind> kind_named(std::string_view word) {
  for (const KindWord& k : kKinds)
    if (word == k.word) return k.kind;
  return std::nullopt;
}

std::vector<std::string> kind_words() {
  std::vector<std::string> words;
  for (const KindWord& k : kKinds) words.emplace_back(k.word);
  return words;
}

/// The tables of [[key]], each with its path; anything else is an error.
std::vector<std::pair<const Node*, std::string>> tables_of(TableReader& root, const char* key) {
  std::vector<std::pair<const Node*, std::string>> all;
  const Node* node = root.node(key);
  if (node == nullptr) return all;
  if (node->kind != Node::Kind::array) {
    root.error(key, "is " + std::string(name_of(node->kind)) + ", expected tables: [[" +
                        std::string(key) + "]]");
    return all;
  }
  if (node->items.size() > kMostStages) {
    root.error(key, "more than " + std::to_string(kMostStages) + "; expected fewer");
    return all;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i)
    all.emplace_back(&node->items[i], join_index(key, i));
  return all;
}

/// A word of a closed list; anything else is reported and reads as the first.
template <class T, std::size_t N>
T one_of(TableReader& table, const char* key, const std::array<std::pair<const char*, T>, N>& all) {
  const std::optional<std::string> text = table.text(key);
  if (!text) return all.front().second;
  std::string expected;
  std::vector<std::string> words;
  for (const auto& [word, value] : all) {
    if (*text == word) return value;
    expected += (expected.empty() ? "" : ", ") + std::string(word);
    words.emplace_back(word);
  }
  table.error(key,
              quoted(*text) + " is not one; expected " + expected + did_you_mean(*text, words));
  return all.front().second;
}

constexpr std::array<std::pair<const char*, Sharing>, 2> kSharings{
    {{"exclusive", Sharing::exclusive}, {"fair", Sharing::fair}}};
constexpr std::array<std::pair<const char*, Queue>, 3> kQueues{
    {{"fifo", Queue::fifo}, {"priority", Queue::priority}, {"in_order", Queue::in_order}}};
constexpr std::array<std::pair<const char*, Event>, 2> kEvents{
    {{"finish", Event::finish}, {"start", Event::start}}};
constexpr std::array<std::pair<const char*, DependencyKind>, 5> kDependencyKinds{
    {{"data", DependencyKind::data},
     {"synchronous", DependencyKind::synchronous},
     {"stream", DependencyKind::stream},
     {"program", DependencyKind::program},
     {"credit", DependencyKind::credit}}};

class PipelineReader {
 public:
  explicit PipelineReader(const Node& document) : document_(document) {}

  PipelineFile read() {
    file_.at = document_.at;
    {
      TableReader root(document_, "", diagnostics_);
      read_head(root);
      for (const auto& [node, path] : tables_of(root, "resource")) read_resource(*node, path);
      for (const auto& [node, path] : tables_of(root, "stage")) read_stage(*node, path);
      for (const auto& [node, path] : tables_of(root, "buffer")) read_buffer(*node, path);
      if (file_.stages.empty() && diagnostics_.empty())
        root.error("stage", "missing; expected at least one [[stage]]");
    }
    diagnostics_.throw_if_any();
    for (StageEntry& stage : file_.stages) check_stage(stage);
    for (const BufferEntry& buffer : file_.buffers) check_buffer(buffer);
    diagnostics_.throw_if_any();
    return std::move(file_);
  }

 private:
  void read_head(TableReader& root) {
    const auto schema = root.count("schema");
    if (!root.has("schema")) root.error("schema", "missing; expected schema = 1");
    if (schema && *schema != 1)
      root.error("schema", "version " + std::to_string(*schema) +
                               " is not known; this program reads schema = 1");
    root.node("kind");
    file_.name = root.text("name").value_or("");
    file_.device = root.text("device").value_or("");
    file_.items = root.count("items", 1);
    if (file_.items && *file_.items > kMostItems)
      root.error("items", "more than 1e12; expected fewer");
    const Node* arrivals = root.node("arrivals");
    if (arrivals == nullptr) return;
    if (arrivals->kind == Node::Kind::array) {
      file_.arrivals = read_times(*arrivals, "arrivals", diagnostics_);
    } else {
      TableReader table(*arrivals, "arrivals", diagnostics_);
      file_.arrivals = read_csv_column(table);
    }
  }

  void read_resource(const Node& node, const std::string& path) {
    TableReader table(node, path, diagnostics_);
    Pool pool;
    pool.name = table.required_name("name");
    pool.servers = table.count("servers", 1).value_or(1);
    if (pool.servers > kMostTasks)
      table.error("servers", "more than " + std::to_string(kMostTasks) +
                                 ", the most steps that are placed; expected fewer");
    const std::optional<std::string> kind = table.text("kind");
    const std::string word = kind.value_or(pool.name);
    pool.kind = kind_named(word).value_or(PoolKind::other);
    if (kind && !kind_named(word))
      table.error("kind", quoted(word) + " is not one; expected " + listed(kind_words()) +
                              did_you_mean(word, kind_words()));
    pool.sharing = one_of(table, "sharing", kSharings);
    const bool host = pool.kind == PoolKind::host;
    pool.queue = table.has("queue") || !host ? one_of(table, "queue", kQueues) : Queue::in_order;
    if (host && pool.servers != 1)
      table.error("servers", "a host thread runs one program; expected 1, or kind = \"cpu\"");
    pool.scaling_efficiency = table.number("scaling_efficiency").value_or(1);
    if (!(pool.scaling_efficiency > 0 && pool.scaling_efficiency <= 1))
      table.error("scaling_efficiency", "expected a share above 0, up to 1");
    LinkFigures link;
    link.bandwidth = read_bandwidth(table, "bandwidth");
    link.latency = table.quantity<Seconds>("latency");
    if (!pools_.emplace(pool.name, file_.resources.size()).second)
      table.error("name", quoted(pool.name) + " is there already");
    file_.resources.push_back(std::move(pool));
    file_.links.push_back(link);
  }

  static std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
    return text;
  }

  void read_stage(const Node& node, const std::string& path) {
    TableReader table(node, path, diagnostics_);
    StageEntry stage;
    stage.at = node.at;
    stage.path = path;
    stage.name = table.required_name("name");
    stage.resource = table.required_text("resource");
    stage.time = read_stage_time(table, stage.resource);
    stage.device = table.text("device").value_or("");
    read_after(table, stage);
    read_operation(table, stage);
    stage.group = table.text("group").value_or("");
    stage.collective = table.flag("collective").value_or(false);
    if (const Node* sequence = table.node("sequence")) read_sequence(table, *sequence, stage);
    stage.not_before = table.quantity<Seconds>("not_before").value_or(Seconds(0));
    if (!stages_.emplace(stage.name, file_.stages.size()).second)
      table.error("name", quoted(stage.name) + " is there already");
    file_.stages.push_back(std::move(stage));
  }

  static void read_sequence(TableReader& table, const Node& node, StageEntry& stage) {
    if (node.kind == Node::Kind::integer) {
      stage.sequence = node.integer;
    } else {
      table.error("sequence", "is " + std::string(name_of(node.kind)) + ", expected an integer");
    }
  }

  static void read_operation(TableReader& table, StageEntry& stage) {
    const std::optional<std::string> stream = table.text("stream");
    const std::optional<bool> pinned = table.flag("pinned");
    const std::optional<bool> non_blocking = table.flag("non_blocking");
    const std::optional<Seconds> launch = table.quantity<Seconds>("launch");
    const std::optional<std::string> host = table.text("host");
    stage.issued = stream || pinned || non_blocking || launch || host;
    stage.host = host.value_or("host");
    stage.stream = stream.value_or("default");
    stage.pinned = pinned.value_or(false);
    stage.non_blocking = non_blocking.value_or(false);
    stage.launch = launch.value_or(Seconds(0));
  }

  /// after = ["load", { stage = "gpu", distance = 1, event = "start", kind = "credit" }]
  void read_after(TableReader& table, StageEntry& stage) {
    const Node* after = table.node("after");
    if (after == nullptr) return;
    if (after->kind != Node::Kind::array) {
      table.error("after", "is " + std::string(name_of(after->kind)) +
                               ", expected a list of stages: [\"load\"]");
      return;
    }
    if (after->items.size() > kMostStages) {
      table.error("after", "more than " + std::to_string(kMostStages) + "; expected fewer");
      return;
    }
    for (std::size_t i = 0; i < after->items.size(); ++i) {
      const Node& item = after->items[i];
      AfterEntry entry;
      entry.at = item.at;
      if (item.kind == Node::Kind::text) {
        entry.stage = item.text;
      } else {
        TableReader one(item, join_index(table.path_of("after"), i), diagnostics_);
        entry.stage = one.required_text("stage");
        entry.distance = one.count("distance").value_or(0);
        entry.event = one_of(one, "event", kEvents);
        entry.kind = one_of(one, "kind", kDependencyKinds);
      }
      stage.after.push_back(std::move(entry));
    }
  }

  void read_buffer(const Node& node, const std::string& path) {
    TableReader table(node, path, diagnostics_);
    BufferEntry buffer;
    buffer.at = node.at;
    buffer.path = path;
    const std::vector<std::string> between =
        table.texts("between").value_or(std::vector<std::string>{});
    if (between.size() != 2) {
      table.error("between", "expected two stages: [\"producer\", \"consumer\"]");
    } else {
      buffer.producer = between[0];
      buffer.consumer = between[1];
    }
    if (!table.has("capacity"))
      table.error("capacity", "missing; expected how many items fit (0: a rendezvous)");
    buffer.capacity = table.count("capacity").value_or(1);
    file_.buffers.push_back(std::move(buffer));
  }

  // ---- once all names are known ----

  void need_resource(const StageEntry& stage, const char* key, const std::string& name) {
    if (pools_.contains(name)) return;
    const std::optional<PoolKind> kind = kind_named(name);
    if (!kind || name == "other" || name == "link") {
      std::vector<std::string> known = kind_words();
      if (file_.resources.size() <= kMostSuggested)
        for (const Pool& pool : file_.resources) known.push_back(pool.name);
      diagnostics_.add(
          stage.at, join_key(stage.path, key),
          quoted(name) + " is no [[resource]] of the file" + did_you_mean(name, known));
      return;
    }
    pools_.emplace(name, file_.resources.size());
    Pool pool;
    pool.name = name;
    pool.kind = *kind;
    if (*kind == PoolKind::host) pool.queue = Queue::in_order;
    file_.resources.push_back(std::move(pool));
    file_.links.emplace_back();
  }

  void check_stage(const StageEntry& stage) {
    need_resource(stage, "resource", stage.resource);
    if (stage.issued) check_operation(stage);
    if (const auto* transfer = std::get_if<Transfer>(&stage.time)) check_link(stage, *transfer);
    for (const AfterEntry& after : stage.after) {
      if (stages_.contains(after.stage)) continue;
      diagnostics_.add(after.at, join_key(stage.path, "after"),
                       quoted(after.stage) + " is no stage of the file" +
                           did_you_mean(after.stage, stage_names()));
    }
  }

  void check_operation(const StageEntry& stage) {
    need_resource(stage, "host", stage.host);
    const auto kind_of = [this](const std::string& name) {
      const auto found = pools_.find(name);
      return found == pools_.end() ? PoolKind::other : file_.resources[found->second].kind;
    };
    if (pools_.contains(stage.host) && kind_of(stage.host) != PoolKind::host)
      diagnostics_.add(stage.at, join_key(stage.path, "host"),
                       quoted(stage.host) + " is no host thread; expected a resource of kind host");
    if (kind_of(stage.resource) == PoolKind::host || kind_of(stage.resource) == PoolKind::cpu)
      diagnostics_.add(stage.at, join_key(stage.path, "resource"),
                       "stream, pinned, non_blocking, launch and host are keys of what a host "
                       "issues to a device; expected a copy engine, a gpu or a link");
  }

  void check_link(const StageEntry& stage, const Transfer& transfer) {
    static const std::vector<std::string> device_links{"h2d", "d2h", "peer", "network"};
    const auto own = pools_.find(transfer.link);
    const bool figures = own != pools_.end() && file_.links[own->second].bandwidth;
    const bool of_device =
        std::find(device_links.begin(), device_links.end(), transfer.link) != device_links.end();
    if (transfer.bandwidth || figures || of_device) return;
    diagnostics_.add(stage.at, join_key(stage.path, "bytes"),
                     "need a bandwidth: a `bandwidth` of the stage or of [[resource]] " +
                         quoted(transfer.link) +
                         ", or link = \"h2d\", \"d2h\", \"peer\" or "
                         "\"network\" of the device");
  }

  void check_buffer(const BufferEntry& buffer) {
    for (const std::string& name : {buffer.producer, buffer.consumer}) {
      if (stages_.contains(name)) continue;
      diagnostics_.add(
          buffer.at, join_key(buffer.path, "between"),
          quoted(name) + " is no stage of the file" + did_you_mean(name, stage_names()));
      return;
    }
    const StageEntry& producer = file_.stages[stages_.at(buffer.producer)];
    const StageEntry& consumer = file_.stages[stages_.at(buffer.consumer)];
    const bool follows =
        std::any_of(consumer.after.begin(), consumer.after.end(), [&](const AfterEntry& a) {
          return a.stage == producer.name && a.distance == 0 && a.event == Event::finish;
        });
    if (!follows)
      diagnostics_.add(buffer.at, join_key(buffer.path, "between"),
                       quoted(consumer.name) + " does not come after " + quoted(producer.name) +
                           "; expected after = [" + quoted(producer.name) + "] in its stage");
    const auto pool = pools_.find(producer.resource);
    if (pool != pools_.end() && file_.resources[pool->second].sharing == Sharing::fair)
      diagnostics_.add(buffer.at, join_key(buffer.path, "between"),
                       "the producer's resource is shared fairly and has no server to hold; "
                       "expected an exclusive one");
    if (!pairs_.emplace(buffer.producer, buffer.consumer).second)
      diagnostics_.add(buffer.at, join_key(buffer.path, "between"),
                       "a buffer between these two is there already");
  }

  std::vector<std::string> stage_names() const {
    std::vector<std::string> names;
    if (file_.stages.size() > kMostSuggested) return names;
    for (const StageEntry& stage : file_.stages) names.push_back(stage.name);
    return names;
  }

  const Node& document_;
  Diagnostics diagnostics_;
  PipelineFile file_;
  std::unordered_map<std::string, std::size_t> pools_;
  std::unordered_map<std::string, std::size_t> stages_;
  std::set<std::pair<std::string, std::string>> pairs_;
};

}  // namespace

bool is_pipeline_document(const Node& document) {
  const Node* kind = document.find("kind");
  return kind != nullptr && kind->kind == Node::Kind::text && kind->text == "pipeline";
}

PipelineFile read_pipeline(const Node& document) { return PipelineReader(document).read(); }

}  // namespace floorline
