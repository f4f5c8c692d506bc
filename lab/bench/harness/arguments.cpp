// SPDX-License-Identifier: Apache-2.0
#include "harness/arguments.hpp"

#include <charconv>
#include <cstdio>
#include <utility>

#include "harness/errors.hpp"

namespace bench {
namespace {

bool is_option(std::string_view word) { return word.starts_with("--"); }

std::string to_text(std::uint64_t number) { return std::to_string(number); }

std::string to_text(double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", number);
  return digits;
}

template <class Number>
Number parse(std::string_view option, const std::string& text, Number least, Number most) {
  Number value{};
  const auto end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !(value >= least && value <= most)) {
    const std::string range =
        least == most ? to_text(least) : "a number from " + to_text(least) + " to " + to_text(most);
    refuse(std::string(option) + ": choose " + range + ", not '" + text + "'");
  }
  return value;
}

}  // namespace

Arguments::Arguments(std::string family, int count, char** words) : family_(std::move(family)) {
  for (int i = 0; i < count; ++i) {
    Option option;
    option.name = words[i];
    if (!is_option(option.name)) refuse(family_ + ": '" + option.name + "' is not an option: options begin with --");
    if (find(option.name) != nullptr) refuse(option.name + ": given twice");
    if (i + 1 < count && !is_option(words[i + 1])) {
      option.value = words[++i];
      option.has_value = true;
    }
    given_.push_back(std::move(option));
  }
}

const Arguments::Option* Arguments::find(std::string_view option) const {
  for (const auto& given : given_)
    if (given.name == option) return &given;
  return nullptr;
}

const Arguments::Option* Arguments::look_up(std::string_view option) {
  if (!contains(known_, option)) known_.emplace_back(option);
  return find(option);
}

bool Arguments::flag(std::string_view option) {
  const Option* const given = look_up(option);
  if (given != nullptr && given->has_value) refuse(std::string(option) + ": takes no value");
  return given != nullptr;
}

const std::string* Arguments::value_of(std::string_view option) {
  const Option* const given = look_up(option);
  if (given == nullptr) return nullptr;
  if (!given->has_value) refuse(std::string(option) + ": needs a value");
  return &given->value;
}

double Arguments::number(std::string_view option, double fallback, double least, double most) {
  const auto* const text = value_of(option);
  return text == nullptr ? fallback : parse(option, *text, least, most);
}

std::uint64_t Arguments::number(std::string_view option, std::uint64_t fallback, std::uint64_t least,
                                std::uint64_t most) {
  const auto* const text = value_of(option);
  return text == nullptr ? fallback : parse(option, *text, least, most);
}

std::string Arguments::text(std::string_view option, std::string_view fallback,
                            const std::vector<std::string>& choices) {
  const auto* const text = value_of(option);
  if (text == nullptr) return std::string(fallback);
  if (!choices.empty() && !contains(choices, *text))
    refuse(std::string(option) + ": unknown '" + *text + "' (one of: " + joined(choices) + ")");
  return *text;
}

void Arguments::finish() const {
  for (const auto& given : given_)
    if (!contains(known_, given.name))
      refuse(family_ + " has no option '" + given.name + "' (options: " + joined(known_) + ")");
}

}  // namespace bench
