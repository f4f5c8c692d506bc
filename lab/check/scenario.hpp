// SPDX-License-Identifier: Apache-2.0
// Scenarios: what the threads of a check do.
//
//   rounds          every thread acquires and releases, again and again
//   try             the same, but the first thread only tries
//   timed           every thread except the last may give up while it waits, and returns for its next episode
//   oblivious       the first thread acquires the lock, and the second thread releases it. The others do rounds
//   several         every thread holds two locks at once and releases the first one first
//   destroy         the last thread to leave destroys the lock as soon as it has released it. Semaphores: as in posts,
//                   and the last thread to get its permit destroys the semaphore
//   timed-destroy   the same, with threads that may give up
//   full-table      timed, with room for one thread in the table of leavers: the other threads wait outside the line
//                   until there is room (line/leavers.hpp)
//   interrupt       the first thread holds the lock until the second returns from its wait, which the third interrupts;
//                   the others do rounds
//   wrap            rounds, with counters that start just below their limits. Semaphores: posts
//
// Semaphores only (semaphore_fixture.hpp):
//
//   permits         rounds with two permits
//   posts           the first thread releases permits for all others at once, and they acquire
//   timed-permits   permits, with threads that may give up
//   timed-posts     posts, with threads that may give up
//   timed-batch     the first thread releases two permits at once, the last thread acquires one, and the threads
//                   between may give up, or release the permit that they get
//   timed-away      no thread releases a permit, and all threads give up
//
// Conditions only (condition_fixture.hpp):
//
//   notify          half of the threads put tokens, each with a notify_one after the release of the lock; the others
//                   take them
//   notify-all      the first thread opens a round and notifies all; the others wait for the round
//   notify-timed    the first thread puts tokens, the last takes them; the threads between may give up. They take no
//                   token, and pass on any notification that they receive
//   notify-destroy  as notify-all; as soon as all waiters are notified, the condition is destroyed
//
// The seqlock only (record_fixture.hpp):
//
//   record          all threads except the last write, and the last reads
#pragma once

#include <string_view>

namespace fairlock::check {

enum class Scenario {
  rounds,
  try_,
  timed,
  oblivious,
  several,
  destroy,
  timed_destroy,
  full_table,
  interrupt,
  wrap,
  permits,
  posts,
  timed_permits,
  timed_posts,
  timed_batch,
  timed_away,
  notify,
  notify_all,
  notify_timed,
  notify_destroy,
  record,
};
inline constexpr std::string_view scenario_names[] = {
    "rounds",      "try",        "timed",  "oblivious",  "several",      "destroy",        "timed-destroy",
    "full-table",  "interrupt",  "wrap",   "permits",    "posts",        "timed-permits",  "timed-posts",
    "timed-batch", "timed-away", "notify", "notify-all", "notify-timed", "notify-destroy", "record",
};

// Whether the scenario uses the form of the lock whose waiters may leave the line.
constexpr bool uses_timed_form(Scenario scenario) {
  return scenario == Scenario::timed || scenario == Scenario::timed_destroy || scenario == Scenario::full_table ||
         scenario == Scenario::interrupt;
}

}  // namespace fairlock::check
