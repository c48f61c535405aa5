// The progress of a backup or a restore: written down twice a second, also while its store or its server is silent. Without
// any for too long it ends.
import type { WorkDeps } from './job.ts'
import { PassingFault } from './plan.ts'

export type JobProgress = Disposable & {
  /** So many bytes are done, of a total that may be known only now. */
  readonly report: (doneBytes: number, totalBytes?: number) => void
  /** Aborts with a PassingFault where no further byte was done for too long. */
  readonly still: AbortSignal
}

const TELL_MS = 500
/** A store has much shorter limits of its own; the sync of a large copy may take minutes. */
const STILL_MS_MAX = 1_800_000
const STILL = 'nothing of its files could be copied for half an hour'

/** `text` writes the id, the bytes that are done and the total. `gone` is called where the row is gone. */
export function openProgress(
  { state, clock }: Pick<WorkDeps, 'state' | 'clock'>,
  text: string,
  { id, gone }: { readonly id: string; readonly gone?: () => void },
): JobProgress {
  let done = 0
  let total: number | null = null
  let movedMs = clock.monotonicMs()
  const still = new AbortController()
  // The files of a running server grow while they are copied.
  const tell = () =>
    state.query(text, [id, total === null ? done : Math.min(done, total), total]).then(
      ({ rowCount }) => rowCount === 0 && gone?.(),
      () => undefined,
    )
  const timer = setInterval(() => {
    if (clock.monotonicMs() - movedMs > STILL_MS_MAX) still.abort(new PassingFault(STILL))
    void tell()
  }, TELL_MS)
  return {
    still: still.signal,
    report(doneBytes, totalBytes) {
      if (doneBytes !== done) movedMs = clock.monotonicMs()
      done = doneBytes
      if (totalBytes === undefined) return
      total = totalBytes
      void tell()
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
