//! The stack, which has to be as deep as Go's.

/// What a step of any recursion here may need at most, with room to spare in builds that are not optimised.
const NEEDED: usize = 128 << 10;
/// By how much the stack grows.
const GROWTH: usize = 4 << 20;

/// Does something with enough of a stack for it. Values may be nested a hundred thousand times.
#[inline]
pub(crate) fn enough<R>(task: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(NEEDED, GROWTH, task)
}
