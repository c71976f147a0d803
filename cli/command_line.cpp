// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/argument_order.hpp"
#include "cli/overwrite.hpp"
#include "model/input/diagnostic.hpp"

namespace floorline {

namespace {

constexpr const char* kAbout =
    "Floorline: the least time a piece of GPU work can take, what holds it there, and what a "
    "change "
    "would buy.";

constexpr const char* kExit =
    "Exit status: 0 done, the answer is yes; 1 done, the answer is no; 2 bad input; 3 the machine "
    "cannot do it; 70 a bug.\n";

/// What a newcomer would type first; each runs with the data that is shipped.
struct VerbExamples {
  const char* verb;
  const char* examples;
};
constexpr std::array kExamples{
    VerbExamples{
        "bound",
        "  floorline bound --flops 2e12 --bytes 100GB --peak 100TFLOP/s --bandwidth 1TB/s\n"
        "  floorline bound --op 'gemm m=4096 n=4096 k=4096 in=bf16' --device h100_sxm\n"
        "  floorline bound llama-3.1-8b --device h100_sxm --set phase=decode --set batch=16"},
    VerbExamples{"compare",
                 "  floorline compare llama-3.1-8b --device a100_sxm_80gb,h100_sxm,b200"},
    VerbExamples{"devices",
                 "  floorline devices show h100_sxm\n"
                 "  floorline devices probe-cpu --output this_cpu.toml"},
    VerbExamples{"fuse",
                 "  floorline fuse rmsnorm_quantize --device h100_sxm --group rmsnorm,quantize\n"
                 "  floorline fuse transformer_block --device h100_sxm --search --emit fused.json"},
    VerbExamples{"graph", "  floorline graph layernorm\n  floorline graph --kinds"},
    VerbExamples{"sweep",
                 "  floorline sweep llama-3.1-70b --device h100_sxm --set tp=8 "
                 "--grid batch=1,8,64 --grid context=1024..131072:*2"},
    VerbExamples{"ledger",
                 "  floorline ledger --line weights=14GB --line kv=2GiB --budget 22GiB\n"
                 "  floorline ledger llama-3.1-8b --device h100_sxm --budget device --engine vllm "
                 "--solve batch\n"
                 "  floorline ledger llama-3.1-8b --set phase=train --set dp=8 --set zero=3 "
                 "--budget 80GB"},
    VerbExamples{"timeline",
                 "  floorline timeline pipeline-loader --trace trace.json\n"
                 "  floorline timeline llama-3.1-8b --device h100_sxm --set tp=2"},
    VerbExamples{"whatif",
                 "  floorline whatif llama-3.1-8b --device h100_sxm --change weight_dtype=fp8 "
                 "--measured 8ms"},
    VerbExamples{"calibrate",
                 "  floorline calibrate --line copies.csv --x bytes --time median_us "
                 "--device h100_sxm"},
    VerbExamples{"record",
                 "  floorline record hypotheses\n"
                 "  floorline record new layernorm --device h100_sxm --change tensor.x.dtype=fp32"},
    VerbExamples{"validate",
                 "  floorline validate layernorm_storage_precision --observed baseline=168us "
                 "--observed variant=90us --tolerance 2%\n"
                 "  floorline validate --all --backend cpu --quick --record"},
};

std::string all_examples() {
  std::string text = std::string(kExit) + "Examples:";
  for (const char* verb : {"bound", "compare", "whatif", "ledger", "timeline"}) {
    for (const VerbExamples& row : kExamples) {
      const std::string_view examples(row.examples);
      if (std::string_view(row.verb) == verb)
        text += "\n" + std::string(examples.substr(0, examples.find('\n')));
    }
  }
  return text;
}

void add_examples(CLI::App& app) {
  for (const VerbExamples& row : kExamples) {
    CLI::App* verb = app.get_subcommand(row.verb);
    verb->footer(std::string(kExit) + "Examples:\n" + row.examples);
    for (CLI::App* sub : verb->get_subcommands({})) sub->footer(kExit);
  }
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

/// The first word that is not a flag, if it is no verb: what was probably meant as one.
std::string mistyped_verb(const CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> verbs = verb_names(app);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) continue;
    const bool known = std::find(verbs.begin(), verbs.end(), word) != verbs.end();
    return known ? "" : word;
  }
  return "";
}

/// "; did you mean …?" for the first flag that the verb does not have.
std::string nearest_flag(const CLI::App& verb, int argc, char** argv) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (!word.starts_with("--") || std::find(flags.begin(), flags.end(), word) != flags.end())
      continue;
    return did_you_mean(word, flags);
  }
  return "";
}

/// --measured "$T" with T unset is a mistake, not a missing flag.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::App* verb : app.get_subcommands()) {
    for (const CLI::Option* option : verb->get_options()) {
      for (const std::string& value : option->results()) {
        if (!value.empty()) continue;
        throw InputError(
            Diagnostic{position_in("command line"), option->get_name(), "has an empty value"});
      }
    }
    refuse_empty_values(*verb);
  }
}

InputError usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::string word = mistyped_verb(app, argc, argv);
  if (!word.empty()) {
    return InputError(Diagnostic{position_in("command line"), "",
                                 "\"" + word + "\" is not a command" +
                                     did_you_mean(word, verb_names(app)) +
                                     " (floorline --help lists them)"});
  }
  std::string verb;
  std::string nearest;
  for (const CLI::App* sub : app.get_subcommands()) {
    verb = " " + sub->get_name();
    nearest = nearest_flag(*sub, argc, argv);
  }
  return InputError(
      Diagnostic{position_in("command line"), "",
                 std::string(error.what()) + nearest + " (floorline" + verb + " --help)"});
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app(kAbout, "floorline");
  app.footer(all_examples());
  app.set_version_flag("--version", std::string("floorline ") + FLOORLINE_VERSION);
  app.require_subcommand(0, 1);
  Action action;
  add_bound(app, action);
  add_compare(app, action);
  add_devices(app, action);
  add_fuse(app, action);
  add_graph(app, action);
  add_sweep(app, action);
  add_ledger(app, action);
  add_timeline(app, action);
  add_whatif(app, action);
  add_calibrate(app, action);
  add_record(app, action);
  add_validate(app, action);
  add_examples(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked, std::cout, std::cerr);
    return 0;
  } catch (const CLI::ParseError& error) {
    throw usage_error(app, error, argc, argv);
  }
  refuse_empty_values(app);
  refuse_overwritten_inputs(app);
  if (!action) {
    std::cerr << app.help();
    return 2;
  }
  try {
    return action();
  } catch (const InputError& error) {
    throw in_argument_order(error, argc, argv);
  }
}

}  // namespace floorline
