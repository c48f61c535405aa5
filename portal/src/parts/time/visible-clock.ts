// A clock that rests while the page is hidden: a new moment is a new question for some reads, and each read is charged.

/** Calls `tick` each `everyMs` while the page is visible, and when the page comes back. Returns the end. */
export function eachWhileVisible(everyMs: number, tick: () => void): () => void {
  const tickIfVisible = () => {
    if (!document.hidden) tick()
  }
  const timer = setInterval(tickIfVisible, everyMs)
  document.addEventListener('visibilitychange', tickIfVisible)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', tickIfVisible)
  }
}
