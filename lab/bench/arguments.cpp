// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <charconv>
#include <utility>

#include "common.hpp"

namespace bench {
namespace {

bool is_option(std::string_view word) { return word.starts_with("--"); }

std::string shown(std::uint64_t number) { return std::to_string(number); }

std::string shown(double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", number);
  return digits;
}

template <class Number>
Number parsed(std::string_view option, const std::string& text, Number least, Number most) {
  Number value{};
  const auto end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !(value >= least && value <= most)) {
    const std::string range = least == most ? shown(least) : "a number from " + shown(least) + " to " + shown(most);
    refuse(std::string(option) + ": not '" + text + "' but " + range);
  }
  return value;
}

}  // namespace

Arguments::Arguments(std::string family, int count, char** words) : family_(std::move(family)) {
  for (int i = 0; i < count; ++i) {
    Given one;
    one.option = words[i];
    if (!is_option(one.option)) refuse(family_ + ": options begin with --, '" + one.option + "' does not");
    if (given(one.option)) refuse(one.option + ": given twice");
    if (i + 1 < count && !is_option(words[i + 1])) {
      one.value = words[++i];
      one.has_value = true;
    }
    given_.push_back(std::move(one));
  }
}

bool Arguments::given(std::string_view option) const {
  for (const auto& one : given_)
    if (one.option == option) return true;
  return false;
}

const Arguments::Given* Arguments::find(std::string_view option) {
  if (!contains(asked_, option)) asked_.emplace_back(option);
  for (const auto& one : given_)
    if (one.option == option) return &one;
  return nullptr;
}

bool Arguments::flag(std::string_view option) {
  const Given* const found = find(option);
  if (found != nullptr && found->has_value) refuse(std::string(option) + ": takes no value");
  return found != nullptr;
}

const std::string* Arguments::value_of(std::string_view option) {
  const Given* const found = find(option);
  if (found == nullptr) return nullptr;
  if (!found->has_value) refuse(std::string(option) + ": needs a value");
  return &found->value;
}

double Arguments::number(std::string_view option, double otherwise, double least, double most) {
  const auto* const text = value_of(option);
  return text == nullptr ? otherwise : parsed(option, *text, least, most);
}

std::uint64_t Arguments::number(std::string_view option, std::uint64_t otherwise, std::uint64_t least,
                                std::uint64_t most) {
  const auto* const text = value_of(option);
  return text == nullptr ? otherwise : parsed(option, *text, least, most);
}

std::string Arguments::text(std::string_view option, std::string_view otherwise,
                            const std::vector<std::string>& choices) {
  const auto* const text = value_of(option);
  if (text == nullptr) return std::string(otherwise);
  if (!choices.empty() && !contains(choices, *text))
    refuse(std::string(option) + ": unknown '" + *text + "' (one of: " + joined(choices) + ")");
  return *text;
}

void Arguments::finish() const {
  for (const auto& one : given_)
    if (!contains(asked_, one.option))
      refuse(family_ + " has no option '" + one.option + "' (options: " + joined(asked_) + ")");
}

}  // namespace bench
