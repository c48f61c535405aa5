// The time of a part of a request.
import type { ErgonError } from '#base/errors.ts'

/** A signal that aborts when another one does, or with an error after a time, until it is disposed. */
export function timeLimit(
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  late: () => ErgonError,
): Disposable & { readonly signal: AbortSignal } {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(late()), ms)
  return {
    signal: AbortSignal.any([signal, over.signal]),
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
