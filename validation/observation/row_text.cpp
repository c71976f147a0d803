// SPDX-License-Identifier: Apache-2.0
// Experts (README of the data): rows of one rank, gate and up read together, then down; what comes
// in are the fewest tokens that its rows can belong to, and as many leave. Latent attention: 512
// shared elements and 64 that turn, once for all heads. Decoding is absorbed: queries of 576,
// values of 512 (F = 2 x 1088 a pair and head; expanded is more). A prefill computes 192 and 128 a
// pair and head (absorbed is more; making keys and values of the latents is not counted) and reads
// what is narrower, latents of 576 or 256 a head and 64.
#include "validation/observation/row_text.hpp"

#include "model/input/document_node.hpp"
#include "model/workload/graph_file.hpp"
#include "model/workload/op_text.hpp"

namespace floorline {

namespace {

std::string text(Precision precision) { return std::string(name_of(precision)); }

std::string words(std::initializer_list<std::pair<const char*, Precision>> list) {
  std::string all;
  for (const auto& [name, precision] : list) all += std::string(" ") + name + "=" + text(precision);
  return all;
}

std::string dtype_words(OperatorKind kind, const Reading& r) {
  switch (kind) {
    case OperatorKind::gemm:
      return words({{"in", r.in},
                    {"weight", r.second},
                    {"out", r.out},
                    {"compute", r.compute},
                    {"accumulate", Precision::any}});
    case OperatorKind::attention:
      return words({{"in", r.in},
                    {"kv", r.second},
                    {"out", r.out},
                    {"compute", r.compute},
                    {"accumulate", Precision::any}});
    case OperatorKind::embedding:
      return words({{"weight", r.second}, {"out", r.out}});
    case OperatorKind::quantize:
      return words({{"in", r.in}, {"out", r.out}});
    case OperatorKind::elementwise:
      return " reads=1" + words({{"in", r.in}, {"out", r.out}});
    default:
      return "";
  }
}

std::string op_text(OperatorKind kind, const Reading& reading) {
  std::string all(name_of(kind));
  for (const KeyInfo& key : info(kind).keys) {
    if (!key.required) continue;
    all += " " + std::string(name_of(key.key)) + (key.key == Key::bytes ? "=1B" : "=1");
  }
  return all + dtype_words(kind, reading);
}

std::string tensor(const std::string& name, const std::string& shape, Precision dtype,
                   const char* role) {
  return "[tensor." + name + "]\nshape = [" + shape + "]\ndtype = \"" + text(dtype) +
         "\"\nrole = \"" + role + "\"\n";
}

std::string symbols(std::initializer_list<const char*> names) {
  std::string all = "schema = 1\nkind = \"graph\"\n[symbols]\n";
  for (const char* name : names) all += std::string(name) + " = 1\n";
  return all;
}

std::string precision_keys(const Reading& reading) {
  return "compute = \"" + text(reading.compute) + "\"\naccumulate = \"any\"\n";
}

std::string grouped(const char* name, const std::string& inputs, const std::string& outputs,
                    const char* k, const Reading& reading) {
  return std::string("[[op]]\nname = \"") + name + "\"\nkind = \"grouped_gemm\"\ninputs = [" +
         inputs + "]\noutputs = [" + outputs +
         "]\ntokens = \"tokens\"\ntop_k = \"top_k\"\nexperts = \"experts\"\nep = \"ep\"\nk = \"" +
         k + "\"\n" + precision_keys(reading);
}

std::string pass(const char* name, const std::string& inputs, const char* output) {
  return std::string("[[op]]\nname = \"") + name + "\"\nkind = \"custom\"\ninputs = [" + inputs +
         "]\noutputs = [\"" + output + "\"]\nflops = 0\n";
}

std::string experts_text(bool gated, const Reading& r) {
  const std::string arrived = "\"ceil(ceil(tokens*top_k/ep)/min(top_k,experts/ep))\", \"hidden\"";
  const std::string rows = "\"ceil(tokens*top_k/ep)\", ";
  const std::string up_shape = "\"experts/ep\", \"hidden\", \"width\"";
  std::string all = symbols({"tokens", "hidden", "width", "top_k", "experts", "ep"});
  all += tensor("x", arrived, r.in, "input");
  all += tensor("up_weight", up_shape, r.second, "weight");
  all += tensor("up", rows + "\"width\"", r.in, "intermediate");
  if (gated) {
    all += tensor("gate_weight", up_shape, r.second, "weight");
    all += tensor("gate", rows + "\"width\"", r.in, "intermediate");
  }
  all += tensor("activated", rows + "\"width\"", r.in, "intermediate");
  all += tensor("down_weight", "\"experts/ep\", \"width\", \"hidden\"", r.second, "weight");
  all += tensor("expert_rows", rows + "\"hidden\"", r.out, "intermediate");
  all += tensor("out", arrived, r.out, "output");
  const std::string gate = gated ? ", \"gate\"" : "";
  const std::string gate_weight = gated ? ", \"gate_weight\"" : "";
  all += grouped("up", "\"x\", \"up_weight\"" + gate_weight, "\"up\"" + gate, "hidden", r);
  all += pass("activation", "\"up\"" + gate, "activated");
  all += grouped("down", "\"activated\", \"down_weight\"", "\"expert_rows\"", "width", r);
  return all + pass("finalize", "\"expert_rows\"", "out");
}

std::string latent_text(bool decode, const Reading& r) {
  const std::string rows = "\"batch*q_len\", \"heads\", ";
  const std::string cached = decode ? "\"576\"" : "\"min(576,256*heads+64)\"";
  std::string all = symbols({"batch", "q_len", "kv_len", "heads"});
  all += tensor("q", rows + (decode ? "\"576\"" : "\"192\""), r.in, "input");
  all += tensor("latent", "\"batch*kv_len\", " + cached, r.second, "input");
  all += tensor("out", rows + (decode ? "\"512\"" : "\"128\""), r.out, "output");
  all +=
      "[[op]]\nname = \"attention\"\nkind = \"attention\"\ninputs = [\"q\", \"latent\"]\n"
      "outputs = [\"out\"]\nbatch = \"batch\"\nq_heads = \"heads\"\nkv_heads = 1\n"
      "q_len = \"q_len\"\nkv_len = \"kv_len\"\ncausal = 1\n";
  all += decode ? "head_dim = 576\nv_dim = 512\n" : "head_dim = 192\nv_dim = 128\n";
  return all + precision_keys(r);
}

OperatorGraph graph_file(const std::string& text) {
  return read_graph(parse_toml(text, "a measured row"));
}

}  // namespace

OperatorGraph graph_of(RowForm form, OperatorKind kind, const Reading& reading) {
  switch (form) {
    case RowForm::one_operator:
      return parse_op_text(op_text(kind, reading));
    case RowForm::product_a_head:
      return parse_op_text(op_text(OperatorKind::gemm, reading) + " batch=1");
    case RowForm::experts:
    case RowForm::gated_experts:
      return graph_file(experts_text(form == RowForm::gated_experts, reading));
    case RowForm::latent_context:
    case RowForm::latent_decode:
      return graph_file(latent_text(form == RowForm::latent_decode, reading));
  }
  return {};
}

}  // namespace floorline
