// SPDX-License-Identifier: Apache-2.0
// A release may be delayed until its line is gone and another line lies at the same address. It then touches the other
// line only while a thread still uses that line, and leaves no entry behind.
#include <new>

#include <fairlock/fairlock.hpp>

#include "support/check.hpp"
#include "support/hooked.hpp"

using namespace fairlock;

namespace {

using Line = TicketLine<Hooked, LineOptions{}>;

// A release that is delayed after it has admitted ticket 0 of a line, and a later line in which ticket 0 has left.
class Reuse {
 public:
  Reuse() {
    stale_ = std::thread([this] {
      line_->release(1, [this](auto...) {
        if (!poked_.reached()) poked_.here();
        Hook::hook() = [this](Operation next) { before(next); };
      });
    });
    poked_.await();
    line_->~Line();
    line_ = new (memory_) Line;

    std::thread leaver([this] {
      const auto wait = [this](auto) {
        check::wait_until([this] { return line_->value() == -2; });
        return false;
      };
      line_->acquire_until(Forever{}, wait, [] {});
    });
    check::wait_until([this] { return line_->value() == -1; });
    behind_ = std::thread([this] {
      line_->acquire_until(Forever{}, [this](auto) { return gives_up_.here(), false; }, [] {});
      ++back_;
    });
    leaver.join();
  }

  // The waiter behind the leaver gives up while the stale release looks at the line.
  void give_up_beside_stale_release() {
    hold_before_ = Operation::load;
    users_ = 1;
    continue_stale_release();
    finish(0);
  }

  // The same beside a release of the later line, which has admitted the leaver's ticket.
  void give_up_beside_two_releases() {
    hold_before_ = Operation::fetch_add;
    users_ = 2;
    Stop admitted;
    std::thread release([&] {
      line_->release(1, [&](auto...) { admitted.here(); });
      ++back_;
    });
    admitted.await();
    poked_.open();
    held_.await();
    admitted.open();
    continue_stale_release();
    release.join();
    finish(1);
  }

 private:
  void continue_stale_release() {
    poked_.open();
    held_.await();
    gives_up_.open();
    held_.open();
  }

  // The delay is bounded, because a user of the line may wait for the stale release.
  void before(Operation next) {
    if (next != hold_before_ || held_.reached()) return;
    held_.here();
    for (const auto end = steady_now() + 20'000'000; back_ != users_ && steady_now() < end;) std::this_thread::yield();
    CHECK(back_ != users_);
  }

  void finish(std::int64_t permits) {
    stale_.join();
    behind_.join();
    CHECK(line_->value() == permits);
    CHECK(Hooked::domain().leavers.load(order::relaxed) == 0);
    CHECK(Hooked::domain().reserved.load(order::relaxed) == 0);
  }

  alignas(Line) std::byte memory_[sizeof(Line)];
  Line* line_ = new (memory_) Line;
  Stop poked_, held_, gives_up_;
  Operation hold_before_ = Operation::load;
  unsigned users_ = 0;
  std::atomic<unsigned> back_{0};
  std::thread stale_, behind_;
};

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  for (unsigned i = check::rounds(5); i > 0; --i) {
    check::step("the waiter behind a leaver gives up");
    Reuse().give_up_beside_stale_release();
    check::step("it gives up beside a second release");
    Reuse().give_up_beside_two_releases();
  }
  return check::result();
}
