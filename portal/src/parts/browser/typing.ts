// Fields, where keys are text.
const TYPED = 'input, textarea, select, [contenteditable]'

/** True in a field. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(TYPED) !== null
