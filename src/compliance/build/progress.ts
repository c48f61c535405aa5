// The progress of a pack, written down twice a second while it changes.
import type { PackWork } from './pack-work.ts'

export type PackProgress = Disposable & {
  /** The number of receipts that are read, of all. */
  readonly report: (done: number, total: number) => void
}

const TELL_MS = 500

/** `gone` is called where the row is gone. */
export function openPackProgress(
  { state, clock }: Pick<PackWork, 'state' | 'clock'>,
  id: string,
  gone: () => void,
): PackProgress {
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
  let cancelTimer = () => {}
  const schedule = () => {
    cancelTimer = clock.setTimer(TELL_MS, () => {
      write()
      schedule()
    })
  }
  schedule()
  return {
    report: (done, total) => void (newest = [done, total]),
    [Symbol.dispose]() {
      cancelTimer()
      newest = undefined
    },
  }
}
