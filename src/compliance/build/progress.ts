// The progress of a pack, written down twice a second while it changes.
import type { State } from '#state/connect.ts'

export type PackProgress = Disposable & {
  /** So many receipts are read, of all. */
  readonly told: (done: number, total: number) => void
}

const TELL_MS = 500

/** `gone` is called where the row is gone. */
export function openPackProgress(state: State, id: string, gone: () => void): PackProgress {
  let newest: readonly [done: number, total: number] | undefined
  const write = () => {
    if (newest === undefined) return
    const [done, total] = newest
    newest = undefined
    state
      .query(
        "update evidence_packs set done = $2, total = $3 where id = $1 and status = 'running'",
        [id, done, total],
      )
      .then(
        ({ rowCount }) => rowCount === 0 && gone(),
        () => undefined,
      )
  }
  const timer = setInterval(write, TELL_MS)
  return {
    told: (done, total) => void (newest = [done, total]),
    [Symbol.dispose]() {
      clearInterval(timer)
      newest = undefined
    },
  }
}
