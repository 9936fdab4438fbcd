// From reset to the C library: the vector table, and switching on the floating-point unit.
#include <cstdint>

extern "C" {

extern std::uint32_t stack_top;  // of memory.ld
[[noreturn]] void _start();      // the C library's: clears memory, calls main

[[noreturn]] void reset() {
  volatile auto& coprocessor_access = *reinterpret_cast<std::uint32_t*>(0xE000ED88);
  coprocessor_access = coprocessor_access | (0xFU << 20U);
  __asm__ volatile("dsb\n isb\n");
  _start();
}

[[noreturn]] void stop() {
  while (true) {
  }
}

}  // extern "C"

struct Vectors {
  std::uint32_t* stack;
  void (*handlers[15])();
};

__attribute__((section(".vectors"), used)) const Vectors vectors = {
    &stack_top,
    {reset, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop}};
