// SPDX-License-Identifier: Apache-2.0
// A native platform with a hook before each operation on an atomic. A test can stop a thread exactly there, or disturb
// it.
#pragma once

#include <functional>

#include <fairlock/platform/native.hpp>
#include <fairlock/waiting/yield.hpp>

enum class Operation { load, store, exchange, fetch_add, fetch_or, fetch_and, compare_exchange, cas };

template <class Base, class Before>
struct Interrupted : Base {
  template <class T>
  class atomic : public Base::template atomic<T> {
    using Plain = typename Base::template atomic<T>;
    using Order = std::memory_order;

   public:
    using Plain::Plain;
    T load(Order o) const { return Before::operation(Operation::load), Plain::load(o); }
    void store(T v, Order o) { Before::operation(Operation::store), Plain::store(v, o); }
    T exchange(T v, Order o) { return Before::operation(Operation::exchange), Plain::exchange(v, o); }
    T fetch_add(T v, Order o) { return Before::operation(Operation::fetch_add), Plain::fetch_add(v, o); }
    T fetch_or(T v, Order o) { return Before::operation(Operation::fetch_or), Plain::fetch_or(v, o); }
    T fetch_and(T v, Order o) { return Before::operation(Operation::fetch_and), Plain::fetch_and(v, o); }
    bool compare_exchange(T& v, T w, Order o) {
      return Before::operation(Operation::compare_exchange), Plain::compare_exchange(v, w, o);
    }
    bool cas(T v, T w, Order o) { return Before::operation(Operation::cas), Plain::cas(v, w, o); }

    T peek() const { return Plain::load(std::memory_order_acquire); }  // for the test itself
  };
};

// Calls the hook of the calling thread.
struct Hook {
  static std::function<void(Operation)>& hook() {
    static thread_local std::function<void(Operation)> before;
    return before;
  }
  static void operation(Operation next) {
    if (hook()) hook()(next);
  }
};

struct Hooked : Interrupted<fairlock::Native<fairlock::Yield>, Hook> {
  static auto& hook() { return Hook::hook(); }
};

// Yields the processor now and then. Two processors rarely meet in a window of a few instructions, and this widens it.
struct Jitter {
  static void operation(Operation) {
    if (fairlock::Native<fairlock::Yield>::random() % 32 == 0) std::this_thread::yield();
  }
};

template <class P>
struct Jittery : Interrupted<P, Jitter> {};

// A place where a thread stops until another thread opens it.
class Stop {
 public:
  void here() {
    reached_.store(true);
    while (!open_.load()) std::this_thread::yield();
  }
  void await() const {
    while (!reached_.load()) std::this_thread::yield();
  }
  bool reached() const { return reached_.load(); }
  void open() { open_.store(true); }

 private:
  std::atomic<bool> reached_{false}, open_{false};
};
