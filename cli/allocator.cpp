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
  constexpr int k_kept = 64 << 20;     // bytes at the heap's end that are not given back
  constexpr int k_reserve = 32 << 20;  // bytes that the heap grows by; untouched ones cost nothing
  constexpr std::uintptr_t k_huge_page = 2U << 20U;
  ::mallopt(M_MMAP_THRESHOLD, k_reserve);
  ::mallopt(M_TRIM_THRESHOLD, k_kept);
  ::mallopt(M_TOP_PAD, k_reserve);
  const auto before = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  // Too large for what the heap has now, so it grows. Volatile: the compiler may not leave it out.
  void* volatile block = std::malloc(k_huge_page);
  std::free(block);
  const auto after = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  const std::uintptr_t begin = (before + k_huge_page - 1) / k_huge_page * k_huge_page;
  if (begin < after) ::madvise(reinterpret_cast<void*>(begin), after - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace triage::cli
