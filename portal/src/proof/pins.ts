// The keys that receipts are checked with. The first answer of the service is pinned whole. Later a log is added only where
// the pinned logs vouch for it, as on the command line (tlog/links.ts). A person may trust the service anew.
export type KeyEntry = { readonly origin: string; readonly public_key: string }
export type KeyList = { readonly keys: readonly KeyEntry[] }

const STORE = 'ergon.receipt-keys'

export type Pins = Pick<Storage, 'getItem' | 'setItem'>

/** None before the first receipt. */
export function pinnedKeys(store: Pick<Pins, 'getItem'>): KeyList {
  const kept: unknown = JSON.parse(store.getItem(STORE) ?? '[]')
  return { keys: Array.isArray(kept) ? (kept as KeyEntry[]) : [] }
}

/** Adds the keys of some logs that the service told; a pinned key stays as it is. */
export function pinKeys(told: KeyList, origins: readonly string[], store: Pins): void {
  const { keys } = pinnedKeys(store)
  const isKnown = (origin: string) => keys.some((key) => key.origin === origin)
  const added = told.keys.filter(({ origin }) => origins.includes(origin) && !isKnown(origin))
  if (added.length > 0) store.setItem(STORE, JSON.stringify([...keys, ...added]))
}

/** The next receipt pins what the service tells then. */
export const forgetPins = (store: Pick<Storage, 'removeItem'>): void => store.removeItem(STORE)
