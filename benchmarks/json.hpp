// JSON on stdout, written as it comes: objects and lists nest as the functions that write them do.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

namespace bench {

class Json {
 public:
  template <class F>
  void object(const char* key, F&& write) { nested(key, '{', '}', write); }

  template <class F>
  void list(const char* key, F&& write) { nested(key, '[', ']', write); }

  void text(const char* key, std::string_view value) {
    begin(key);
    std::printf("\"%.*s\"", static_cast<int>(value.size()), value.data());
  }

  void number(const char* key, double value) {
    begin(key);
    std::printf("%.6g", value);
  }

  void number(const char* key, std::uint64_t value) {
    begin(key);
    std::printf("%llu", static_cast<unsigned long long>(value));
  }

  template <class Number>
  void numbers(const char* key, const std::vector<Number>& values) {
    list(key, [&] {
      for (const auto value : values) number(nullptr, value);
    });
  }

 private:
  template <class F>
  void nested(const char* key, char open, char close, F&& write) {
    begin(key);
    if (open == '{') std::putchar('\n');
    std::putchar(open);
    first_ = true;
    write();
    std::putchar(close);
    first_ = false;
  }

  void begin(const char* key) {
    if (!first_) std::fputs(", ", stdout);
    if (key != nullptr) std::printf("\"%s\": ", key);
    first_ = false;
  }

  bool first_ = true;
};

}  // namespace bench
