// SPDX-License-Identifier: Apache-2.0
// Weak memory: RC11 without load buffering, as views over messages.
//
// A location is a list of messages in modification order. A thread's view holds, for each location, the oldest
// message that the thread may still read.
//
//   release   attaches the writer's view to the message
//   acquire   joins that view into the reader's view
//   RMW       stands right behind the message that it read, and passes on its view (release sequences)
//   store     may go anywhere behind the thread's view, even before messages that exist already
//   fence     seq_cst fences meet in one global view
//
// Accesses that ask for seq_cst get acq_rel, which allows more behaviours, never fewer.
//
// Positions, not timestamps, order a list, so equal states have equal representations. Hashes ignore messages that no
// thread can read any more.
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
  explicit WeakMemory(World& world) : world_(world), location_of_(world.arena().size() / 4, 0) { reset(); }

  void reset();
  unsigned outcomes(unsigned t);
  bool only_deadline(unsigned t);
  void take(unsigned t, unsigned outcome);
  std::uint64_t hash() const;
  std::size_t snapshot_size() const;
  void save(std::byte* to) const;
  void restore(const std::byte* from);

  // The model keeps views for fences only if the program has one; the first fence requests a restart.
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
    bool of_rmw;  // then it stands right behind the message that the RMW read
  };
  struct List {
    std::uint8_t length;
    std::uint8_t message[max_list];
  };
  struct ThreadViews {
    View now;      // what the thread may read
    View fetched;  // what an acquire fence would add
    View fenced;   // what the thread had at its last release fence
  };
  // Snapshots copy this struct as a whole, and then the messages that are in use.
  struct Fixed {
    std::array<ThreadViews, max_threads> threads;
    View fence;   // where seq_cst fences meet
    View unseen;  // the last `init` of each location: a thread that uses the location later must have seen it
    std::array<List, max_locations> lists;
    std::uint8_t messages;
  };

  enum class Effect : std::uint8_t { none, read, write, modify, miss, give_up };
  template <class F>
  void each_outcome(unsigned t, F&& visit);  // visit(effect, position) returns whether to go on

  unsigned location(const Operation& op);
  Message& message(unsigned location, unsigned position) { return messages_[fixed_.lists[location].message[position]]; }
  const Message& message(unsigned location, unsigned position) const {
    return messages_[fixed_.lists[location].message[position]];
  }
  void read(unsigned t, unsigned location, unsigned position, bool acquire);
  void insert(unsigned t, unsigned location, unsigned position, std::uint64_t value, bool release,
              const Message* carried);
  void fence(unsigned t, std::memory_order order);
  void access(unsigned t, const Operation& op);
  void touch(unsigned t, const Operation& op, std::string race);  // `race`: the message if the access races

  World& world_;
  std::vector<std::uint8_t> location_of_;  // 1 + location, by arena offset / 4; it stays for the whole exploration
  std::uint8_t locations_known_ = 0;
  bool fences_ = false;
  bool saw_fence_ = false;
  Fixed fixed_{};
  std::array<Message, max_messages> messages_{};
};

}  // namespace fairlock::check
