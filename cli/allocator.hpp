#pragma once

namespace triage::cli {

/// Suits the C library's allocator to an analysis that takes a moment: memory that was given back
/// is kept, what every analysis needs is asked of the kernel at once, and the rest of the heap lies
/// in huge pages where it grants them; first touches of small pages were a fifth of a short run.
/// For the beginning of an analysis: commands that read no evidence do not pay. Changes no
/// behaviour; does nothing where the C library is another one or a sanitizer brings its own
/// allocator.
void prepare_allocator();

}  // namespace triage::cli
