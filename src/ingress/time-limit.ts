// The time of a part of a request.
import type { ErgonError } from '#base/errors.ts'

/** Aborts the whole after a time, with an error, until it is disposed. */
export function abortLate(ending: AbortController, ms: number, late: () => ErgonError): Disposable {
  const timer = setTimeout(() => ending.abort(late()), ms)
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
