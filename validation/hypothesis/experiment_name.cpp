// SPDX-License-Identifier: Apache-2.0
#include "validation/hypothesis/experiment_name.hpp"

#include "model/input/diagnostic.hpp"

namespace floorline {

namespace {

const std::vector<ExperimentSpec>& suite(Scale scale) {
  static const std::vector<ExperimentSpec> tiny = experiment_table(Scale::tiny);
  static const std::vector<ExperimentSpec> host = experiment_table(Scale::host);
  static const std::vector<ExperimentSpec> device = experiment_table(Scale::device);
  switch (scale) {
    case Scale::tiny:
      return tiny;
    case Scale::host:
      return host;
    case Scale::device:
      break;
  }
  return device;
}

const ExperimentSpec* named(const std::string& name, Scale scale) {
  for (const ExperimentSpec& spec : suite(scale)) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

}  // namespace

std::optional<ExperimentSpec> resolve_experiment(const std::string& text, Scale scale) {
  if (text.find_first_of(" \t\n") != std::string::npos) return parse_experiment(text);
  if (const ExperimentSpec* spec = named(text, scale)) return *spec;
  std::vector<std::string> names;
  for (const Scale other : {Scale::tiny, Scale::host, Scale::device}) {
    if (named(text, other) != nullptr) return std::nullopt;
    for (const ExperimentSpec& spec : suite(other)) names.push_back(spec.name);
  }
  throw InputError(Diagnostic{position_in("experiment"), "",
                              "\"" + text + "\" is no experiment of the suite" +
                                  did_you_mean(text, names) +
                                  "; expected its name or 'KIND key=value …'"});
}

}  // namespace floorline
