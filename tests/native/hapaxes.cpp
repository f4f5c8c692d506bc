// SPDX-License-Identifier: Apache-2.0
// A hapax is used once: across threads, blocks, lanes and block sizes, with values given back and with second blocks.
// When the hapaxes run out, the program ends with a message.
#include <fairlock/fairlock.hpp>

#include "support/check.hpp"

using namespace fairlock;

namespace {

constexpr unsigned threads = 4;
using Values = std::vector<std::uint64_t>;

void expect_unique(Values all) {
  std::ranges::sort(all);
  CHECK(std::ranges::adjacent_find(all) == all.end());
  CHECK(all.front() != 0);
}

// No two lanes give out the same block: lane l gives out the numbers that are l + 1 modulo the number of lanes.
template <DomainOptions O>
void unique(const char* what, unsigned each) {
  using P = Native<Yield, O>;
  using Source = Hapaxes<P>;
  check::step("unique:", what);
  CHECK(Source::block_size() == std::uint64_t{1} << O.block_bits);

  std::vector<Values> drawn(threads);
  check::together(threads, [&](unsigned i) {
    for (unsigned n = 0; n < each; ++n) {
      // Some threads skip the rest of a block, some switch to a second block.
      if (n % 37 == 11 && i == 1) Source::avoid_collision(AfterCollision::new_block);
      if (n % 37 == 11 && i == 2) Source::avoid_collision(AfterCollision::second_block);
      if (n % 37 == 11 && i == 3) Source::avoid_collision(AfterCollision::nothing);
      drawn[i].push_back(Source::next());
    }
  });
  Values all;
  for (const Values& values : drawn) all.insert(all.end(), values.begin(), values.end());
  expect_unique(all);

  // Every value belongs to a block that its lane has given out, and no lane outside the domain has given out any.
  std::uint64_t blocks = 0;
  for (unsigned lane = 0; lane < P::max_lanes; ++lane) {
    const auto given = P::domain().lanes[lane].blocks.load(order::relaxed);
    CHECK(lane < O.lanes || given == 0);
    blocks += given;
  }
  for (const auto hapax : all) {
    const auto number = (hapax >> O.block_bits) - 1;
    CHECK(P::domain().lanes[number % O.lanes].blocks.load(order::relaxed) > number / O.lanes);
  }
  CHECK(blocks * Source::block_size() >= all.size());
}

// A block holds consecutive values, and a thread visits the source once for each block.
void blocks() {
  check::step("blocks");
  constexpr DomainOptions options{.slots = 2, .block_bits = 4};
  using P = Native<Yield, options>;
  const auto given = [] { return P::domain().lanes[0].blocks.load(order::relaxed); };
  const auto first = Hapaxes<P>::next();
  CHECK(first % 16 == 0 && given() == 1);
  for (std::uint64_t n = 1; n < 16; ++n) CHECK(Hapaxes<P>::next() == first + n);
  CHECK(given() == 1);
  CHECK(Hapaxes<P>::next() == first + 16 && given() == 2);

  // Switch to a second block, and back to the next value of the first.
  Hapaxes<P>::avoid_collision(AfterCollision::second_block);
  CHECK(Hapaxes<P>::next() == first + 32 && given() == 3);
  Hapaxes<P>::avoid_collision(AfterCollision::second_block);
  CHECK(Hapaxes<P>::next() == first + 17 && given() == 3);
  Hapaxes<P>::avoid_collision(AfterCollision::second_block);
  CHECK(Hapaxes<P>::next() == first + 33 && given() == 3);
  Hapaxes<P>::avoid_collision(AfterCollision::new_block);
  CHECK(Hapaxes<P>::next() == first + 48 && given() == 4);

  // Another thread has its own block.
  std::thread([&] { CHECK(Hapaxes<P>::next() == first + 64); }).join();
}

// A hapax that no other thread saw is used again, once, and only by a caller that accepts returned hapaxes.
void give_back() {
  check::step("give back");
  constexpr DomainOptions options{.slots = 4, .block_bits = 8};
  using Source = Hapaxes<Native<Yield, options>>;
  const auto a = Source::next_or_returned();
  const auto b = Source::next_or_returned();
  Source::give_back(a);
  const auto c = Source::next();
  CHECK(Source::next_or_returned() == a);
  const auto d = Source::next_or_returned();
  expect_unique({a, b, c, d});
  Source::give_back(c);
  Source::give_back(d);  // there is room for one: the other is not used again
  CHECK(Source::next_or_returned() == d);
  expect_unique({a, b, c, d, Source::next_or_returned(), Source::next()});
}

template <DomainOptions O>
void overflow(const char* what) {
  using P = Native<Yield, O>;
  using Source = Hapaxes<P>;
  check::step("overflow:", what);
  constexpr auto message = "fairlock: hapax: the domain has no hapaxes left";
  const auto near_the_end = [](std::uint64_t blocks_left) {
    // The upper half belongs to the table of leavers.
    const auto last = ((~std::uint64_t{0} >> 1) >> O.block_bits) / O.lanes;
    for (auto& lane : P::domain().lanes) lane.blocks.store(last - blocks_left, order::relaxed);
  };
  // There are values up to the last block. None of them is small, so nothing has wrapped around.
  const auto lived = check::in_child([&] {
    near_the_end(2 + 1);
    for (std::uint64_t n = 0; n < 2; ++n) {
      if (Source::next() < std::uint64_t{1} << 61) _exit(9);
      Source::avoid_collision(AfterCollision::new_block);
    }
  });
  CHECK(lived.signal == 0 && lived.status == 0);
  const auto died = check::in_child([&] {
    near_the_end(3);
    for (std::uint64_t n = 0; n < 4 * O.lanes; ++n) {
      if (Source::next() < std::uint64_t{1} << 61) _exit(9);
      Source::avoid_collision(AfterCollision::new_block);
    }
  });
  CHECK(died.aborted_saying(message));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  overflow<DomainOptions{}>("one lane, blocks of 64K");
  overflow<DomainOptions{.lanes = 4, .lane = Lane::random}>("four lanes");
  overflow<DomainOptions{.lanes = 64, .lane = Lane::cpu}>("a lane for each CPU");
  overflow<DomainOptions{.block_bits = 1}>("blocks of two");

  const unsigned each = check::rounds(20000);
  unique<DomainOptions{}>("one lane", 5 * each);
  unique<DomainOptions{.block_bits = 0}>("blocks of one", each);
  unique<DomainOptions{.block_bits = 1}>("blocks of two", each);
  unique<DomainOptions{.block_bits = 5}>("blocks of 32", each);
  unique<DomainOptions{.lanes = 4, .lane = Lane::random, .block_bits = 3}>("lanes at random", each);
  unique<DomainOptions{.lanes = 64, .lane = Lane::cpu, .block_bits = 3}>("lanes by CPU", each);
  unique<DomainOptions{.lanes = 8, .lane = Lane::node, .block_bits = 3}>("lanes by node", each);
  unique<DomainOptions{.lanes = 4, .lane = Lane::previous, .block_bits = 3}>("lanes by previous block", each);
  unique<DomainOptions{.lanes = 4, .lane = Lane::first, .block_bits = 3}>("only the first of four lanes", each);
  blocks();
  give_back();
  return check::result();
}
