// SPDX-License-Identifier: Apache-2.0
#include "model/floor/measured.hpp"

#include "model/input/diagnostic.hpp"

namespace floorline {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), "--measured",
                              "\"" + std::string(text) + "\" " + why});
}

Seconds divide(double work, double rate, std::string_view text, const char* what) {
  if (!(work > 0)) refuse(text, std::string("is a rate, but this workload has no ") + what);
  return Seconds(work / rate);
}

}  // namespace

std::string_view name_of(MeasuredVerdict verdict) {
  switch (verdict) {
    case MeasuredVerdict::possible:
      return "possible";
    case MeasuredVerdict::warm:
      return "warm";
    case MeasuredVerdict::impossible:
      return "impossible";
  }
  return "";
}

Seconds measured_time(std::string_view text, const MeasuredWork& work) {
  const std::optional<AnyQuantity> q = parse_any_quantity(text);
  if (!q) {
    refuse(text,
           "is neither a time nor a rate; expected such as 9.302ms, 17.6TFLOP/s, 2.2TB/s or "
           "75.9token/s");
  }
  constexpr double kShortest = 1e-18;
  if (!(q->base > 0)) refuse(text, "is not above zero");
  if (q->base < kShortest || q->base > 1 / kShortest * 1e12) refuse(text, "is out of range");
  switch (q->dimension) {
    case Dimension::seconds:
      return Seconds(q->base);
    case Dimension::flops_per_second:
      return divide(work.flops.in_base_units(), q->base, text, "FLOPs");
    case Dimension::bytes_per_second:
      return divide(work.bytes.in_base_units(), q->base, text, "bytes");
    case Dimension::tokens_per_second:
      return divide(work.tokens, q->base, text, "tokens");
    default:
      refuse(text, "is " + std::string(name_of(q->dimension)) + "; expected a time or a rate");
  }
}

bool is_token_rate(std::string_view text) {
  const std::optional<AnyQuantity> q = parse_any_quantity(text);
  return q && q->dimension == Dimension::tokens_per_second;
}

Measured judge(Seconds time, Seconds cold, std::optional<Seconds> any, bool proven) {
  Measured m;
  m.time = time;
  m.ratio_cold = cold > Seconds(0) ? time / cold : 0;
  if (any && *any > Seconds(0)) m.ratio_any = time / *any;
  if (any && time < *any) {
    m.verdict = MeasuredVerdict::impossible;
  } else if (proven && time < cold) {
    m.verdict = MeasuredVerdict::warm;
  }
  return m;
}

}  // namespace floorline
