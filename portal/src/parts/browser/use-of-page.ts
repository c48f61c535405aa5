// The use of a page by its person, apart from what the page does by itself.
const USES = ['keydown', 'pointerdown'] as const

/** Calls `act` at the next use, once. Gives what ends the wait. */
export function onUse(act: () => void): () => void {
  const ending = new AbortController()
  const used = () => {
    ending.abort()
    act()
  }
  for (const use of USES) addEventListener(use, used, { signal: ending.signal })
  return () => ending.abort()
}
