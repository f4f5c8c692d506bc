// SPDX-License-Identifier: Apache-2.0
// A writer of JSON: objects and lists nest like the functions that write them. The text is printed when it is complete,
// so a run that fails prints none of it. The key is null for an element of a list.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class Json {
 public:
  template <class F>
  void object(const char* key, F&& write) {
    nested(key, '{', '}', write);
  }

  template <class F>
  void list(const char* key, F&& write) {
    nested(key, '[', ']', write);
  }

  void text(const char* key, std::string_view value) {
    begin(key);
    quoted(value);
  }

  void number(const char* key, std::floating_point auto value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    begin(key);
    text_ += digits;
  }

  void number(const char* key, std::integral auto value) {
    begin(key);
    text_ += std::to_string(value);
  }

  void boolean(const char* key, bool value) {
    begin(key);
    text_ += value ? "true" : "false";
  }

  void null(const char* key) {
    begin(key);
    text_ += "null";
  }

  template <class Number>
  void numbers(const char* key, const std::vector<Number>& values) {
    list(key, [&] {
      for (const auto value : values) number(nullptr, value);
    });
  }

  void texts(const char* key, const std::vector<std::string>& values) {
    list(key, [&] {
      for (const auto& value : values) text(nullptr, value);
    });
  }

  void print() const { std::puts(text_.c_str()); }

 private:
  template <class F>
  void nested(const char* key, char open, char close, F&& write) {
    begin(key);
    text_ += open;
    first_ = true;
    write();
    text_ += close;
    first_ = false;
  }

  void begin(const char* key) {
    if (!first_) text_ += ", ";
    if (key != nullptr) {
      quoted(key);
      text_ += ": ";
    }
    first_ = false;
  }

  void quoted(std::string_view value) {
    text_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    text_ += '"';
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace bench
