// Fair semaphore: whoever comes by may take a permit that is there; those who wait sleep in a FIFO line, and the first of them is
// passed by at most `quota` times and for about `patience`, whichever comes first. What Python's Semaphore() is.
//
//   line_   the permits, and who waits for one (fair_line.hpp)
#pragma once

#include <fairlock/fair_line.hpp>
#include <fairlock/properties.hpp>

namespace fairlock {
inline namespace v0 {

struct FairSemaphoreOptions {
  std::uint64_t initial = 0;  // permits of a semaphore that is all zero
  unsigned quota = FairLineOptions{}.quota;
  std::uint64_t patience = FairLineOptions{}.patience;  // nanoseconds
};

template <Platform P, FairSemaphoreOptions O = FairSemaphoreOptions{}>
class FairSemaphore {
  using Line = FairLine<P, FairLineOptions{.initial = O.initial, .quota = O.quota, .patience = O.patience}>;

 public:
  static constexpr Properties properties = fair_properties("fair-semaphore", O.quota);

  // The most permits that may be there at once.
  static constexpr std::uint64_t max() { return Line::max(); }

  constexpr FairSemaphore() = default;
  explicit FairSemaphore(std::uint64_t permits) {
    if (permits > max()) P::stop(properties.name, "made with more permits than max()");
    line_.start_with(permits);
  }

  void acquire() {
    if (!line_.try_take()) [[unlikely]] line_.take_until(Forever{});
  }

  bool try_acquire() { return line_.try_take(); }

  template <Until U>
  bool acquire_until(const U& until) { return line_.try_take() || line_.take_until(until); }

  void release(std::uint64_t permits = 1) {
    if (permits != 1) [[unlikely]]
      if (permits > max() || line_.permits() > static_cast<std::int64_t>(max() - permits)) P::stop(properties.name, "released past max()");
    line_.give(permits);
  }

  // Permits to be had just now.
  std::int64_t value() const { return line_.permits(); }

  template <class V>
  void fields(V&& visit) const { line_.fields(visit); }

 private:
  Line line_;
};

}  // namespace v0
}  // namespace fairlock
