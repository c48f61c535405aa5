// A key's statement about its successor: a signed note (C2SP signed-note) that cannot be mistaken for a tree head.
// A client that pinned the old key accepts the new one by it, offline.
import { isSignedBy, originOf, parseNote } from './checkpoint.ts'

const nameOf = (key: Uint8Array): string => originOf(key, 'next-key')

/** The two lines that the old key signs: its name, and the new key. `next-key` is no shard, so this is no checkpoint. */
export const handoverBody = (from: Uint8Array, to: Uint8Array): string =>
  `${nameOf(from)}\n${Buffer.from(to).toString('base64')}\n`

/** True for a note in which one key names another as its successor. */
export function isHandover(text: string, from: Uint8Array, to: Uint8Array): boolean {
  try {
    const note = parseNote(text)
    return note.body === handoverBody(from, to) && isSignedBy(note, nameOf(from), from)
  } catch {
    return false
  }
}
