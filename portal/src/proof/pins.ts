// The keys that receipts are checked with, pinned at first sight. A later answer of the service can add the key of a new
// log. It never replaces the key of a log that was seen, nor takes it away.
export type KeyEntry = { readonly origin: string; readonly public_key: string }
export type KeyList = { readonly keys: readonly KeyEntry[] }

const STORE = 'ergon.receipt-keys'

export type Pins = Pick<Storage, 'getItem' | 'setItem'>

/** The pinned keys with new ones added; `changed` are logs whose key is not the pinned one any more. */
export function pin(
  told: KeyList,
  store: Pins,
): { readonly keys: KeyList; readonly changed: readonly string[] } {
  const known = read(store)
  const pinned = new Map(known.map((key) => [key.origin, key]))
  const changed = told.keys.flatMap(({ origin, public_key }) => {
    const before = pinned.get(origin)
    return before !== undefined && before.public_key !== public_key ? [origin] : []
  })
  const added = told.keys.filter(({ origin }) => !pinned.has(origin))
  const keys = [...known, ...added]
  if (added.length > 0) store.setItem(STORE, JSON.stringify(keys))
  return { keys: { keys }, changed }
}

function read(store: Pins): readonly KeyEntry[] {
  const kept: unknown = JSON.parse(store.getItem(STORE) ?? '[]')
  return Array.isArray(kept) ? (kept as KeyEntry[]) : []
}
