//! The stack, which has to be deep enough for what a text may nest.

/// What a step of any recursion here may need at most, with room to spare in builds that are not optimised.
const NEEDED: usize = 64 << 10;
/// By how much the stack grows.
const GROWTH: usize = 1 << 20;

/// Does something with enough of a stack for it.
#[inline]
pub(crate) fn enough<R>(task: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(NEEDED, GROWTH, task)
}
