// The progress of a backup or a restore: written down twice a second, also while its store or its server is silent.
import type { WorkDeps } from './job.ts'

export type JobProgress = Disposable & {
  /** So many bytes are done, of a total that may be known only now. */
  readonly report: (doneBytes: number, totalBytes?: number) => void
}

const TELL_MS = 500

/** `text` writes the id, the bytes that are done and the total. `gone` is called where the row is gone. */
export function openProgress(
  { state }: Pick<WorkDeps, 'state'>,
  text: string,
  { id, gone }: { readonly id: string; readonly gone?: () => void },
): JobProgress {
  let done = 0
  let total: number | null = null
  const tell = () =>
    state.query(text, [id, done, total]).then(
      ({ rowCount }) => rowCount === 0 && gone?.(),
      () => undefined,
    )
  const timer = setInterval(() => void tell(), TELL_MS)
  return {
    report(doneBytes, totalBytes) {
      done = doneBytes
      if (totalBytes === undefined) return
      total = totalBytes
      void tell()
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
