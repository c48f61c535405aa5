// Rows that come while the list is scrolled wait: nothing moves below the eyes of the reader.
import { useState, useSyncExternalStore } from 'react'

/** The list counts as at its top while this much of the page is scrolled away. */
const TOP_PX = 40

const onScroll = (listener: () => void) => {
  window.addEventListener('scroll', listener, { passive: true })
  return () => window.removeEventListener('scroll', listener)
}

type Held<Row> = { readonly rows: readonly Row[]; readonly waiting: number }

/** Rows, the newest first, and the number of newer ones that wait until the page is at its top. */
export function useHeld<Row extends { readonly id: string }>(rows: readonly Row[]): Held<Row> {
  const isAtTop = useSyncExternalStore(onScroll, () => window.scrollY < TOP_PX)
  const [held, setHeld] = useState(rows)
  if (isAtTop && held !== rows) setHeld(rows)
  return isAtTop ? { rows, waiting: 0 } : { rows: held, waiting: newerThan(held, rows) }
}

/** The number of rows before the first one of `held`. */
function newerThan(held: readonly { readonly id: string }[], rows: Held<{ id: string }>['rows']) {
  const first = held[0]
  const at = first === undefined ? -1 : rows.findIndex(({ id }) => id === first.id)
  return at === -1 ? rows.length : at
}
