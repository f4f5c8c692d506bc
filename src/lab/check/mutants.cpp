// The planted bugs. Each is a line: the lock, where it goes wrong, how, and what that is in words.

#include "check/mutant.hpp"

namespace fairlock::check {

namespace {

constexpr auto acquiring = Phase::acquiring;
constexpr auto releasing = Phase::releasing;

constexpr Mutant table[] = {
    {"tas-split", "tas", {acquiring, "word", Kind::await_exchange, Slip::split}, "the exchange is a load and a store"},
    {"tas-relaxed-release", "tas", {releasing, "word", Kind::store, Slip::relax}, "the release does not publish the critical section"},
    {"tts-split", "tts", {acquiring, "word", Kind::exchange, Slip::split}, "the exchange is a load and a store"},
    {"tts-backoff-relaxed-acquire", "tts-backoff", {acquiring, "word", Kind::exchange, Slip::relax}, "the acquire does not see the critical section before"},
    {"ticket-split", "ticket", {acquiring, "ticket", Kind::fetch_add, Slip::split}, "two threads may draw one ticket"},
    {"ticket-relaxed-release", "ticket", {releasing, "grant", Kind::store, Slip::relax}, "the release does not publish the critical section"},
    {"ticket-early-entry", "ticket", {acquiring, "grant", Kind::await, Slip::drop}, "enters without waiting for its turn"},
    {"ticket-backoff-relaxed-wait", "ticket-backoff", {acquiring, "grant", Kind::await, Slip::relax}, "the wait does not see the critical section before"},
    {"partitioned-ticket-split", "partitioned-ticket", {acquiring, "ticket", Kind::fetch_add, Slip::split}, "two threads may draw one ticket"},
    {"partitioned-ticket-relaxed-release", "partitioned-ticket", {releasing, "grant", Kind::store, Slip::relax}, "the release does not publish the critical section"},
    {"anderson-flag-stays", "anderson/2", {acquiring, "flag", Kind::store, Slip::drop}, "a flag is not stopped after use"},
    {"anderson-relaxed-draw", "anderson/2", {acquiring, "next", Kind::fetch_add, Slip::relax}, "an old flag may be taken for one's own"},
    {"anderson-relaxed-release", "anderson", {releasing, "flag", Kind::store, Slip::relax}, "the release does not publish the critical section"},
    {"twa-poke-first", "twa", {releasing, "grant", Kind::store, Slip::delay}, "pokes the slot before it advances the grant"},
    {"twa-no-recheck", "twa", {acquiring, "grant", Kind::load, Slip::stale, 2}, "does not look at the grant again after it chose the slot"},
    {"twa-lost-poke", "twa", {releasing, "counter", Kind::fetch_add, Slip::drop}, "does not poke the slot"},
    {"twa-split-poke", "twa/threshold-0", {releasing, "counter", Kind::fetch_add, Slip::split}, "two pokes of one slot may count as one"},
    {"twa-relaxed-poke", "twa", {releasing, "counter", Kind::fetch_add, Slip::relax}, "the poke may be seen before the grant"},
    {"twa-hapax-store", "twa/hapax", {releasing, "notice", Kind::exchange, Slip::to_store}, "the paper's form: a hapax is stored into the slot, not exchanged"},
    {"tidex-one-identity", "tidex", {acquiring, "depart", Kind::load, Slip::pretend}, "a thread always arrives under its first identity"},
    {"tidex-relaxed-release", "tidex", {releasing, "depart", Kind::store, Slip::relax}, "the release does not publish the critical section"},
    {"hapax-slot-store", "hapax", {releasing, "notice", Kind::exchange, Slip::to_store}, "the paper's form (Listings 2, 6): a notice is stored, not exchanged"},
    {"hapax-no-notice", "hapax", {releasing, "notice", Kind::exchange, Slip::drop}, "does not write the slot"},
    {"hapax-notice-first", "hapax", {releasing, "depart", Kind::store, Slip::delay}, "writes the slot before depart"},
    {"hapax-no-recheck", "hapax", {acquiring, "depart", Kind::load, Slip::stale, 2}, "does not look at depart again after it chose the slot"},
    {"hapax-no-fence-in-release", "hapax/if-arrived", {releasing, "", Kind::fence, Slip::drop}, "the paper's form: looks whether somebody came without a fence after the store"},
    {"hapax-no-fence-in-wait", "hapax/if-arrived", {acquiring, "", Kind::fence, Slip::drop}, "the paper's form: the waiter has no fence either"},
    {"hapax-vw-no-catch", "hapax-vw", {releasing, "visible", Kind::fetch_add, Slip::pretend}, "does not look for a late waiter"},
    {"hapax-vw-weak-catch", "hapax-vw", {releasing, "visible", Kind::fetch_add, Slip::drop}, "looks for a late waiter with a plain load"},
    {"hapax-vw-no-recheck", "hapax-vw", {acquiring, "depart", Kind::load, Slip::stale, 2}, "does not look at depart again after it became visible"},
    {"hapax-vw-careless-withdrawal", "hapax-vw", {acquiring, "visible", Kind::cas, Slip::to_store, 2}, "clears its slot with a store: it may be another's by now"},
    {"hapax-vw-no-withdrawal", "hapax-vw", {acquiring, "visible", Kind::cas, Slip::drop, 2}, "a waiter that need not wait leaves its mark in the slot"},
    {"hapax-vw-no-fence-in-release", "hapax-vw/fence-cas", {releasing, "", Kind::fence, Slip::drop}, "no store-load fence before the CAS that catches a late waiter"},
    {"hapax-vw-no-fence-in-wait", "hapax-vw/polite", {acquiring, "", Kind::fence, Slip::drop}, "no store-load fence before the waiter looks at depart again"},
    {"hapax-vw-relaxed-hand-over", "hapax-vw", {releasing, "visible", Kind::cas, Slip::relax, 1}, "the hand-over does not publish the critical section"},
    {"hapax-vw-relaxed-roll-back", "hapax-vw/roll-back", {releasing, "arrive", Kind::cas, Slip::relax}, "the roll-back does not publish the critical section"},
    {"mcs-late-mark", "mcs", {acquiring, "locked", Kind::init, Slip::delay}, "links its node before it marks it as waiting"},
    {"mcs-keeps-tail", "mcs", {releasing, "tail", Kind::cas, Slip::drop, 0, 1}, "leaves without clearing the tail"},
    {"mcs-relaxed-hand-over", "mcs", {releasing, "locked", Kind::store, Slip::relax}, "the hand-over does not publish the critical section"},
    {"clh-no-mark", "clh", {acquiring, "locked", Kind::init, Slip::drop}, "a recycled node is not marked as waiting"},
    {"clh-relaxed-release", "clh", {releasing, "locked", Kind::store, Slip::relax}, "the release does not publish the critical section"},
    {"hemlock-no-acknowledgement", "hemlock", {releasing, "grant", Kind::await, Slip::drop}, "uses its element again before the successor has seen the grant"},
    {"hemlock-relaxed-hand-over", "hemlock", {releasing, "grant", Kind::store, Slip::relax}, "the hand-over does not publish the critical section"},
    {"reciprocating-lost-end", "reciprocating", {releasing, "gate", Kind::store, Slip::write, 0, 1}, "forgets where the segment ends"},
    {"reciprocating-relaxed-hand-over", "reciprocating", {releasing, "gate", Kind::store, Slip::relax}, "the hand-over does not publish the critical section"},
    {"lifo-split-pop", "lifo", {releasing, "top", Kind::cas, Slip::split}, "a push between the pop's load and store is lost"},
    {"lifo-relaxed-hand-over", "lifo", {releasing, "gate", Kind::store, Slip::relax}, "the hand-over does not publish the critical section"},
    {"qspinlock-release-stores", "qspinlock", {releasing, "word", Kind::fetch_and, Slip::to_store}, "the release wipes out the pending bit and the tail"},
    {"qspinlock-relaxed-release", "qspinlock", {releasing, "word", Kind::fetch_and, Slip::relax}, "the release does not publish the critical section"},
    {"qspinlock-impatient", "qspinlock", {acquiring, "word", Kind::await, Slip::drop}, "the first waiter does not wait for the owner to leave"},
    {"ticket-semaphore-split-release", "ticket-semaphore", {releasing, "grant", Kind::fetch_add, Slip::split}, "of two releases that overlap, one is lost"},
    {"ticket-semaphore-relaxed-release", "ticket-semaphore", {releasing, "grant", Kind::fetch_add, Slip::relax}, "the release does not publish the critical section"},
    {"ticket-semaphore-greedy-try", "ticket-semaphore", {acquiring, "ticket", Kind::cas, Slip::split}, "two threads may take the last permit"},
    {"twa-semaphore-lost-poke", "twa-semaphore", {releasing, "counter", Kind::fetch_add, Slip::drop}, "does not poke the slot"},
    {"twa-semaphore-no-recheck", "twa-semaphore", {acquiring, "grant", Kind::load, Slip::stale, 2}, "does not look at the grant again after it chose the slot"},
    {"twa-semaphore-relaxed-poke", "twa-semaphore", {releasing, "counter", Kind::fetch_add, Slip::relax}, "the poke may be seen before the grant"},
    {"twa-semaphore-no-fence-in-release", "twa-semaphore/fast-path", {releasing, "", Kind::fence, Slip::drop}, "looks for far waiters without a fence after the grant"},
    {"twa-semaphore-no-fence-in-wait", "twa-semaphore/fast-path", {acquiring, "", Kind::fence, Slip::drop}, "no fence between the ticket and the look at the grant"},
    {"fair-lost-poke", "fair", {releasing, "gate", Kind::exchange, Slip::drop}, "does not poke the head of the line"},
    {"fair-careless-editor", "fair", {acquiring, "gate", Kind::exchange, Slip::drop}, "does not poke for a release that found the line being edited"},
    {"fair-unpaid", "fair", {releasing, "word", Kind::cas, Slip::drop, 0, 1}, "pokes, but the word goes on saying that this is owed"},
    {"fair-split-release", "fair", {releasing, "word", Kind::fetch_add, Slip::split}, "an arrival between the release's load and store is lost"},
    {"fair-relaxed-release", "fair", {releasing, "word", Kind::fetch_add, Slip::relax}, "the release does not publish the critical section"},
    {"fair-relaxed-acquire", "fair", {acquiring, "word", Kind::cas, Slip::relax}, "neither who enters nor who edits sees what was done before"},
    {"fair-relaxed-payment", "fair", {releasing, "word", Kind::cas, Slip::relax}, "the next editor may change the line while it is still being read"},
    {"fair-impatient-head", "fair/quota-0", {acquiring, "gate", Kind::await, Slip::drop}, "does not wait until it is poked, and takes itself for the head"},
    {"fair-semaphore-lost-poke", "fair-semaphore", {releasing, "gate", Kind::exchange, Slip::drop}, "does not poke the head of the line"},
    {"fair-semaphore-relaxed-release", "fair-semaphore", {releasing, "word", Kind::fetch_add, Slip::relax}, "the release does not publish the critical section"},
    {"fair-semaphore-one-poke", "fair-semaphore", {acquiring, "gate", Kind::exchange, Slip::drop}, "of several permits that come at once only the first is announced"},
    {"seqlock-listing", "hapax-seqlock", {acquiring, "writes", Kind::fetch_add, Slip::pretend, 0, 0, 1 << 16}, "the paper's form: every writer publishes, met or not"},
    {"seqlock-late-publication", "hapax-seqlock", {acquiring, "last", Kind::store, Slip::delay}, "publishes when it is no longer under way, over a later write"},
    {"seqlock-no-fences", "hapax-seqlock", {acquiring, "", Kind::fence, Slip::drop}, "neither the writer nor the reader has a fence"},
};

}  // namespace

std::span<const Mutant> mutants() { return table; }

}  // namespace fairlock::check
