// SPDX-License-Identifier: Apache-2.0
#include "validation/report/node_access.hpp"

namespace floorline {

const Node* node_at(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (node != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    node = node->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return node;
}

std::string text_at(const Node& root, std::string_view path) {
  const Node* node = node_at(root, path);
  return node != nullptr && node->kind == Node::Kind::text ? node->text : "";
}

std::optional<double> number_at(const Node& root, std::string_view path) {
  const Node* node = node_at(root, path);
  if (node == nullptr || !node->is_number()) return std::nullopt;
  return node->real;
}

std::vector<std::string> texts_at(const Node& root, std::string_view path) {
  std::vector<std::string> texts;
  const Node* node = node_at(root, path);
  if (node == nullptr) return texts;
  for (const Node& item : node->items) {
    if (item.kind == Node::Kind::text) texts.push_back(item.text);
  }
  return texts;
}

}  // namespace floorline
