#include "cli/allocator.hpp"

#include <cstdint>
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace triage::cli {

void prepare_allocator() {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
  constexpr int k_kept = 64 << 20;              // bytes at the heap's end that are not given back
  constexpr int k_reserve = 32 << 20;           // bytes that the heap grows by
  constexpr std::size_t k_touched = 8U << 20U;  // what every analysis needs
  constexpr std::uintptr_t k_page = 4096;
  ::mallopt(M_MMAP_THRESHOLD, k_reserve);
  ::mallopt(M_TRIM_THRESHOLD, k_kept);
  ::mallopt(M_TOP_PAD, k_reserve);
  // Too large for what the heap has now, so it grows. Volatile: the compiler may not leave it out.
  void* volatile block = std::malloc(k_touched);
  std::free(block);
  if (block == nullptr) return;
  const auto past_page = reinterpret_cast<std::uintptr_t>(block) % k_page;
  char* const begin = static_cast<char*>(block) + (k_page - past_page);
  char* const rest = begin + k_touched;
  const auto* const end = static_cast<const char*>(::sbrk(0));
  if (rest >= end) return;
    // Kernels that know neither let pages come one by one, as ever.
#if defined(MADV_POPULATE_WRITE)
  ::madvise(begin, k_touched, MADV_POPULATE_WRITE);
#endif
  ::madvise(rest, static_cast<std::size_t>(end - rest), MADV_HUGEPAGE);
#endif
}

}  // namespace triage::cli
