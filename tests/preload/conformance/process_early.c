// Locks before main.
#include "test.h"

extern int early_results[3];  // libraries/early.c

TEST(process_constructor_of_a_library, "a mutex can be locked, tried and unlocked in the constructor of a library, before main") {
  EQUAL(early_results[0], 0);
  EQUAL(early_results[1], EBUSY);
  EQUAL(early_results[2], 0);
}
