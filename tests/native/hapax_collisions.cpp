// SPDX-License-Identifier: Apache-2.0
// A Hapax waiter changes its block after a collision in its slot, and only then: a hand-over through the slot is none.
#include <fairlock/fairlock.hpp>

#include "support/check.hpp"

using namespace fairlock;

namespace {

constexpr unsigned rounds = 8;

template <class P, AfterCollision After>
using Lock = HapaxLock<P, HapaxOptions{.after_collision = After, .looks = 0}>;

template <class P>
std::uint64_t blocks() {
  return P::domain().lanes[0].blocks.load(order::relaxed);
}

// Two threads pass one lock to each other. Their blocks have two slots, so no collision is possible.
template <AfterCollision After, std::uint32_t Slots>
void hand_over(const char* what) {
  using P = Native<Yield, DomainOptions{.slots = Slots}>;
  check::step("hand over:", what);
  Lock<P, After> lock{};
  check::together(2, [&](unsigned) {
    for (unsigned n = check::rounds(200); n != 0; --n) {
      const auto episode = lock.acquire();
      std::this_thread::yield();  // so that the other thread waits
      lock.release(episode);
    }
  });
  CHECK(blocks<P>() == 2);
}

// All locks share one slot. While a thread waits for a lock, departures from another lock pass through its slot.
template <AfterCollision After, unsigned BlockBits>
void collide(const char* what, std::uint64_t least, std::uint64_t most) {
  using P = Native<Yield, DomainOptions{.slots = 1, .block_bits = BlockBits}>;
  check::step("collide:", what);
  Lock<P, After> lock{}, other{};
  for (unsigned n = 0; n < rounds; ++n) {
    const auto episode = lock.acquire();
    std::atomic<bool> arrived{false};
    std::thread waiter([&] {
      for (int i = 0; i < 2; ++i) {  // the second acquire takes a hapax of the new block
        arrived = true;
        lock.release(lock.acquire());
      }
    });
    check::wait_until([&] { return arrived.load(); });
    for (int i = 0; i < 50; ++i) {
      other.release(other.acquire());
      std::this_thread::yield();
    }
    lock.release(episode);
    waiter.join();
  }
  CHECK(blocks<P>() >= least);
  CHECK(blocks<P>() <= most);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  hand_over<AfterCollision::new_block, 2048>("new block");
  hand_over<AfterCollision::second_block, 1024>("second block");
  // One block for the main thread and one for each of the 8 waiters, and in most rounds one more after the collision.
  collide<AfterCollision::nothing, 10>("nothing", 9, 9 + 1);
  collide<AfterCollision::new_block, 12>("new block", 10, 9 + 8);
  collide<AfterCollision::second_block, 14>("second block", 10, 9 + 8);
  return check::result();
}
