// SPDX-License-Identifier: Apache-2.0
#include "model/report/document.hpp"

#include <cmath>

#include "model/quantity/expect.hpp"

namespace floorline {

Json::Json(bool value) : kind_(Kind::boolean), boolean_(value) {}
Json::Json(double value)
    : kind_(std::isfinite(value) ? Kind::number : Kind::null),
      number_(std::isfinite(value) ? value : 0) {}
Json::Json(int value) : Json(std::int64_t{value}) {}
Json::Json(std::int64_t value) : kind_(Kind::integer), integer_(value) {}
Json::Json(std::string value) : kind_(Kind::text), text_(std::move(value)) {}
Json::Json(std::string_view value) : Json(std::string(value)) {}
Json::Json(const char* value) : Json(std::string(value)) {}

Json Json::object() {
  Json made;
  made.kind_ = Kind::object;
  return made;
}

Json Json::array() {
  Json made;
  made.kind_ = Kind::array;
  return made;
}

Json& Json::set(std::string_view key, Json value) {
  FLOORLINE_EXPECT(kind_ == Kind::object);
  for (auto& [name, held] : members_) {
    if (name != key) continue;
    held = std::move(value);
    return *this;
  }
  members_.emplace_back(std::string(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  FLOORLINE_EXPECT(kind_ == Kind::array);
  items_.push_back(std::move(value));
  return *this;
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, held] : members_) {
    if (name == key) return &held;
  }
  return nullptr;
}

std::string write(const Document& document, Format format, const WriteStyle& style) {
  switch (format) {
    case Format::table:
      return write_table(document, style);
    case Format::json:
      return write_json(document);
    case Format::csv:
      return write_csv(document);
    case Format::md:
      return write_markdown(document);
  }
  FLOORLINE_EXPECT(!"a format that has a writer");
  return {};
}

}  // namespace floorline
