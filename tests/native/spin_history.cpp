// SPDX-License-Identifier: Apache-2.0
// SpinHistory: a thread spins unless that has failed several times in a row, and it tries again later.
#include <fairlock/fairlock.hpp>

#include "support/check.hpp"

using namespace fairlock;

namespace {

// How many waits a thread skips before it spins again.
unsigned skipped(SpinHistory& history) {
  unsigned waits = 0;
  while (!history.worth_trying()) {
    if (!CHECK(++waits < 1000)) break;
  }
  return waits;
}

void failures() {
  check::step("after failures in a row, more and more waits without a spin");
  SpinHistory history;
  CHECK(skipped(history) == 0);
  for (const unsigned expected : {0u, 0u, 1u, 3u, 7u, 15u, 31u, 63u, 127u, 127u}) {
    history.failed();
    CHECK(skipped(history) == expected);
  }
}

void successes() {
  check::step("a success halves the failures");
  SpinHistory history;
  for (int i = 0; i < 6; ++i) history.failed();
  CHECK(skipped(history) == 15);
  history.succeeded();
  CHECK(skipped(history) == 1);
  history.succeeded();
  CHECK(skipped(history) == 0);
}

void locks_apart() {
  check::step("failures with one lock say nothing about its neighbour");
  SpinHistories histories;
  lock<"twa"> locks[2];
  for (int i = 0; i < 9; ++i) histories.of(&locks[0]).failed();
  CHECK(skipped(histories.of(&locks[0])) == 127);
  CHECK(skipped(histories.of(&locks[1])) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  failures();
  successes();
  locks_apart();
  return check::result();
}
