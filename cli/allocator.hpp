#pragma once

namespace triage::cli {

/// Suits the C library's allocator to a process that lives for a moment: memory that was given back
/// is kept, and the heap lies in huge pages where the kernel grants them, because first touches of
/// small pages were a fifth of a short run. Changes no behaviour; does nothing where the C library
/// is another one or a sanitizer brings its own allocator.
void prepare_allocator();

}  // namespace triage::cli
