#include "crowd.hpp"

#include <algorithm>

namespace bench {

Crowd::Crowd(unsigned threads) : members_(threads) {
  for (unsigned i = 0; i < threads; ++i) members_[i].thread = std::thread([this, i] { work(i); });
}

Crowd::~Crowd() {
  subject_ = nullptr;
  turn_.fetch_add(1);
  turn_.notify_all();
  for (auto& member : members_) member.thread.join();
}

Crowding Crowd::measure(Measured& subject, Seconds warm_up, Seconds window) {
  subject_ = &subject;
  warm_up_ = static_cast<Ticks>(warm_up.count() * ticks_per_second());
  length_ = static_cast<Ticks>(window.count() * ticks_per_second());
  data_ = {};
  arrived_.store(0);
  window_.opens.store(Window::unknown);
  window_.closes.store(Window::unknown);
  busy_ = size();
  turn_.fetch_add(1);
  turn_.notify_all();
  await_all(warm_up + window);
  return outcome();
}

void Crowd::work(unsigned i) {
  for (unsigned turn = 0;; ++turn) {
    turn_.wait(turn);
    if (subject_ == nullptr) return;
    arrive();
    members_[i].turns = subject_->crowd(i, window_, data_);
    const std::lock_guard guard(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

// Beside other work it may take a while until all have woken up. The last one says when the window is.
void Crowd::arrive() {
  if (arrived_.fetch_add(1) + 1 != size()) return;
  const Ticks opens = ticks() + warm_up_;
  window_.closes.store(opens + length_);
  window_.opens.store(opens);
}

// Somebody may sleep through a wake-up: better to say so than to wait for ever.
void Crowd::await_all(Seconds time) {
  constexpr Seconds patience(60);
  std::unique_lock lock(mutex_);
  if (!done_.wait_for(lock, time + patience, [this] { return busy_ == 0; })) {
    const auto& about = subject_->description;
    fail(about.name + (about.policy ? std::string(", ") + about.policy : "") + ": " + std::to_string(busy_) + " of " +
         std::to_string(size()) + " threads still wait, a minute after the end");
  }
}

Crowding Crowd::outcome() {
  Crowding outcome{0, 0, 0, {}};
  std::uint64_t all = 0, counted = 0;
  Ticks longest = 0;
  bool alone = true;
  for (const auto& [thread, turns] : members_) {
    all += turns.all;
    counted += turns.counted;
    longest = std::max(longest, turns.longest_wait);
    alone &= turns.alone;
    outcome.counts.push_back(turns.counted);
  }
  if (!alone || all != data_.counter)
    fail(subject_->description.name + " let two threads in: " + std::to_string(all) +
         " increments, but the counter is at " + std::to_string(data_.counter));
  outcome.pairs_per_second = static_cast<double>(counted) * ticks_per_second() / static_cast<double>(length_);
  outcome.slowest_to_fastest = slowest_to_fastest(outcome.counts);
  outcome.longest_wait = static_cast<double>(longest) / ticks_per_second();
  return outcome;
}

}  // namespace bench
