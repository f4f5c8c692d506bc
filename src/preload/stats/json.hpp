// SPDX-License-Identifier: Apache-2.0
// A JSON document that is written with write() alone. It allocates no memory, and keeps nothing large on the stack.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace fairlock::stats {

class Json {
 public:
  explicit Json(int file) : file_(file) {}

  void end() { flush(); }

  void open(char bracket) {
    begin();
    put(bracket);
    first_ = true;
  }
  void close(char bracket) {
    put(bracket);
    first_ = false;
  }
  void key(std::string_view name) {
    text(name);
    put(':');
    first_ = true;
  }

  void null() { raw("null"); }
  void raw(std::string_view value) {
    begin();
    put(value);
  }

  void number(std::uint64_t value) {
    begin();
    digits(value, 10);
  }
  void address(std::uintptr_t value) {
    begin();
    put("\"0x");
    digits(value, 16);
    put('"');
  }
  // A number from 0 to 1.
  void share(double value) {
    begin();
    const auto parts = static_cast<std::uint64_t>(value * 10'000 + 0.5);
    digits(parts / 10'000, 10);
    put('.');
    for (std::uint64_t unit = 1'000; unit != 0; unit /= 10) put(static_cast<char>('0' + parts / unit % 10));
  }

  void text(std::string_view value, std::uint64_t offset = 0) {
    begin();
    put('"');
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        put('\\');
        put(c);
      } else if (static_cast<unsigned char>(c) < 0x20) {
        put("\\u00");
        put(hex[c >> 4]);
        put(hex[c & 15]);
      } else {
        put(c);
      }
    }
    if (offset != 0) {
      put("+0x");
      digits(offset, 16);
    }
    put('"');
  }

  template <class... T>
  void field(std::string_view name, const T&... value) {
    key(name);
    if constexpr ((std::is_integral_v<T> && ...)) number(value...);
    else text(value...);
  }

 private:
  static constexpr char hex[] = "0123456789abcdef";

  void begin() {
    if (!first_) put(",");
    first_ = false;
  }
  void digits(std::uint64_t value, unsigned base) {
    char buffer[20];
    auto* at = buffer + sizeof buffer;
    do *--at = hex[value % base];
    while ((value /= base) != 0);
    put(std::string_view(at, static_cast<std::size_t>(buffer + sizeof buffer - at)));
  }
  void put(std::string_view value) {
    for (const char c : value) put(c);
  }
  void put(char c) {
    if (used_ == sizeof buffer_) flush();
    buffer_[used_++] = c;
  }
  void flush() {
    for (std::size_t done = 0; done < used_;) {
      const auto written = write(file_, buffer_ + done, used_ - done);
      if (written <= 0) break;  // a full disk: a reader sees that the document is not complete
      done += static_cast<std::size_t>(written);
    }
    used_ = 0;
  }

  int file_;
  bool first_ = true;
  std::size_t used_ = 0;
  static inline constinit char buffer_[4096];
};

}  // namespace fairlock::stats
