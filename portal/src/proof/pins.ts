// The keys and heads of logs that receipts are checked with, as on the command line. Keys: the first answer of the service is
// pinned whole; later a log is added only where the pinned logs vouch for it (tlog/links.ts). The newest head of each log:
// what follows must be of one history with it (tlog/history.ts). A person may trust the service anew.
export type KeyEntry = { readonly origin: string; readonly public_key: string }
export type KeyList = { readonly keys: readonly KeyEntry[] }

/** The root in base64. */
export type SavedHead = { readonly origin: string; readonly size: number; readonly root: string }

const STORE = 'ergon.receipt-keys'
const HEADS = 'ergon.tree-heads'

export type Pins = Pick<Storage, 'getItem' | 'setItem'>

/** None before the first receipt. */
export function pinnedKeys(store: Pick<Pins, 'getItem'>): KeyList {
  const kept: unknown = JSON.parse(store.getItem(STORE) ?? '[]')
  return { keys: Array.isArray(kept) ? (kept as KeyEntry[]) : [] }
}

/** Adds the keys of some logs that the service told; a pinned key stays as it is. */
export function pinKeys(published: KeyList, origins: readonly string[], store: Pins): void {
  const { keys } = pinnedKeys(store)
  const isKnown = (origin: string) => keys.some((key) => key.origin === origin)
  const added = published.keys.filter(({ origin }) => origins.includes(origin) && !isKnown(origin))
  if (added.length > 0) store.setItem(STORE, JSON.stringify([...keys, ...added]))
}

export function seenHeads(store: Pick<Pins, 'getItem'>): readonly SavedHead[] {
  const kept: unknown = JSON.parse(store.getItem(HEADS) ?? '[]')
  return Array.isArray(kept) ? (kept as SavedHead[]) : []
}

/** Keeps the newer of two heads that are of one history. */
export function keepHead(head: SavedHead, store: Pins): void {
  const heads = seenHeads(store)
  const seen = heads.find(({ origin }) => origin === head.origin)
  if (seen !== undefined && seen.size >= head.size) return
  store.setItem(HEADS, JSON.stringify([...heads.filter((one) => one !== seen), head]))
}

/** The next receipt of that log begins another history; heads of other logs and all keys stay. */
export function forgetHead(origin: string, store: Pins): void {
  const others = seenHeads(store).filter((head) => head.origin !== origin)
  store.setItem(HEADS, JSON.stringify(others))
}

/** The next receipt pins what the service tells then. */
export function forgetPins(store: Pick<Storage, 'removeItem'>): void {
  for (const name of [STORE, HEADS]) store.removeItem(name)
}
