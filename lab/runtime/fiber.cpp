// SPDX-License-Identifier: Apache-2.0
#include "runtime/fiber.hpp"

#include <cstring>

#ifdef __APPLE__
#define SYMBOL(name) "_" name
#else
#define SYMBOL(name) name
#endif

// A switch clears the registers that it has loaded from the stack: they would return as unused bytes of later frames.

#if defined(__x86_64__)

asm(".text\n"
    ".globl " SYMBOL("fairlock_switch") "\n"
    SYMBOL("fairlock_switch") ":\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  movq (%rsp), %r15\n  movq 8(%rsp), %r14\n  movq 16(%rsp), %r13\n"
    "  movq 24(%rsp), %r12\n  movq 32(%rsp), %rbx\n  movq 40(%rsp), %rbp\n"
    "  pxor %xmm0, %xmm0\n"
    "  movups %xmm0, (%rsp)\n  movups %xmm0, 16(%rsp)\n  movups %xmm0, 32(%rsp)\n"
    "  addq $48, %rsp\n"
    "  movq %rdx, %rax\n"
    "  ret\n"
    // The first switch to a fiber arrives here, with the entry in rbx and its argument in r12.
    SYMBOL("fairlock_start") ":\n"
    "  movq %r12, %rdi\n"
    "  call *%rbx\n"
    "  ud2\n");
extern "C" void fairlock_start();

namespace fairlock::runtime {

void* Fiber::prepare(void (*entry)(void*), void* argument) {
  void* frame[] = {nullptr, nullptr, nullptr, argument, reinterpret_cast<void*>(entry), nullptr,
                   // r15 r14 r13 r12 rbx rbp, return address; padding.
                   reinterpret_cast<void*>(&fairlock_start), nullptr, nullptr};
  std::byte* const sp = top() - sizeof frame;
  std::memcpy(sp, frame, sizeof frame);
  return sp;
}

}  // namespace fairlock::runtime

#elif defined(__aarch64__)

asm(".text\n"
    ".globl " SYMBOL("fairlock_switch") "\n"
    SYMBOL("fairlock_switch") ":\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  stp xzr, xzr, [sp, #0]\n  stp xzr, xzr, [sp, #16]\n  stp xzr, xzr, [sp, #32]\n  stp xzr, xzr, [sp, #48]\n"
    "  stp xzr, xzr, [sp, #64]\n  stp xzr, xzr, [sp, #80]\n  stp xzr, xzr, [sp, #96]\n  stp xzr, xzr, [sp, #112]\n"
    "  stp xzr, xzr, [sp, #128]\n  stp xzr, xzr, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  mov x0, x2\n"
    "  ret\n"
    SYMBOL("fairlock_start") ":\n"
    "  mov x0, x20\n"
    "  blr x19\n"
    "  brk #1\n");
extern "C" void fairlock_start();

namespace fairlock::runtime {

void* Fiber::prepare(void (*entry)(void*), void* argument) {
  void* frame[20] = {reinterpret_cast<void*>(entry), argument};
  frame[11] = reinterpret_cast<void*>(&fairlock_start);  // x30
  std::byte* const sp = top() - sizeof frame;
  std::memcpy(sp, frame, sizeof frame);
  return sp;
}

}  // namespace fairlock::runtime

#else
#error "the fairlock lab switches stacks in assembly, and supports only x86-64 and aarch64"
#endif
