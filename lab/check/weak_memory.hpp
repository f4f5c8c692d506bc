// SPDX-License-Identifier: Apache-2.0
// Weak memory: RC11 without load buffering, as views over messages.
//
// A location is a list of messages in modification order. A thread's view says, for each location, the oldest message
// that it may still read. A release attaches the writer's view to the message, an acquire joins it into the reader's;
// an RMW stands right behind the message that it read and carries on its view (release sequences); a store may go
// anywhere behind the thread's view, even before messages that exist already; seq_cst fences meet in one global view.
// Accesses that ask for seq_cst get acq_rel: more behaviours, never fewer.
//
// Positions, not timestamps, order a list, so equal states have equal representations; messages that no thread can read
// any more count for nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/world.hpp"

namespace fairlock::check {

class WeakMemory {
 public:
  explicit WeakMemory(World& world) : world_(world), location_of_(World::arena_size / 4, 0) { reset(); }

  void reset();
  unsigned outcomes(unsigned t);
  bool only_deadline(unsigned t);
  void take(unsigned t, unsigned outcome);
  std::uint64_t hash() const;
  std::size_t snapshot_size() const;
  void save(std::byte* to) const;
  void restore(const std::byte* from);

  // Views for fences are kept only where a fence was seen; the first one seen asks for a fresh start.
  bool wants_restart() const { return saw_fence_ && !fences_; }
  void restart_with_fences() {
    fences_ = true;
    reset();
  }

 private:
  static constexpr unsigned max_locations = 40;
  static constexpr unsigned max_messages = 224;
  static constexpr unsigned max_list = 60;

  using View = std::array<std::uint8_t, max_locations>;

  struct Message {
    std::uint64_t value;
    View view;
    std::uint8_t of_rmw;  // stands right behind the message that it read
  };
  struct List {
    std::uint8_t length;
    std::uint8_t message[max_list];
  };
  struct ThreadViews {
    View now;      // what it may read
    View fetched;  // what an acquire fence would add
    View fenced;   // what it had at its last release fence
  };
  // The part of a snapshot that is always copied; the messages follow as far as they are used.
  struct Fixed {
    std::array<ThreadViews, max_threads> threads;
    View fence;   // where seq_cst fences meet
    View unseen;  // the last `init` of each location: whoever touches it afterwards must know of that
    std::array<List, max_locations> lists;
    std::uint8_t messages;
  };

  enum class Effect : std::uint8_t { none, read, write, modify, miss, give_up };
  template <class F>
  void each_outcome(unsigned t, F&& visit);  // visit(effect, position) -> whether to go on

  unsigned location(const Operation& op);
  Message& message(unsigned location, unsigned position) { return messages_[fixed_.lists[location].message[position]]; }
  const Message& message(unsigned location, unsigned position) const {
    return messages_[fixed_.lists[location].message[position]];
  }
  void read(unsigned t, unsigned location, unsigned position, bool acquire);
  void insert(unsigned t, unsigned location, unsigned position, std::uint64_t value, bool release,
              const Message* carried);
  void fence(unsigned t, std::memory_order order);
  void access(unsigned t);
  void touch(unsigned t, const Operation& op, std::string otherwise);

  World& world_;
  std::vector<std::uint8_t> location_of_;  // arena offset / 4 -> 1 + location; the same for the whole exploration
  std::uint8_t locations_known_ = 0;
  bool fences_ = false;
  bool saw_fence_ = false;
  Fixed fixed_{};
  std::array<Message, max_messages> messages_{};
};

}  // namespace fairlock::check
