// The time of a part of a request.
import type { ErgonError } from '#base/errors.ts'
import type { RequestEnding } from './request-ending.ts'

/** Aborts the whole after a time, with an error, until it is disposed. */
export function abortLate(
  ending: Pick<RequestEnding, 'abort'>,
  ms: number,
  late: () => ErgonError,
): Disposable {
  const timer = setTimeout(() => ending.abort(late()), ms)
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}

/** That a request waits in its process, and that it begins there. */
const SIGNS_MAX = 2
/** The process ends what is in front of a request a little later than that began. */
const SIGN_MS = 1000

export type WaitingLimit = Disposable & {
  /** Begins the time again, as often as a request waits and begins. */
  waits(): void
}

/**
 * The limit of a request that may wait for its turn in its process: the wait has the same time again. It begins once the code
 * is loaded.
 */
export function abortUnlessWaiting(
  ending: Pick<RequestEnding, 'abort'>,
  ms: number,
  {
    late,
    loading,
  }: { readonly late: () => ErgonError; readonly loading?: Promise<void> | undefined },
): WaitingLimit {
  let limit: Disposable | undefined
  let isOver = false
  const begin = () => {
    if (!isOver) limit ??= abortLate(ending, ms, late)
  }
  if (loading === undefined) begin()
  else void loading.then(begin)
  let signs = 0
  return {
    waits() {
      if (++signs > SIGNS_MAX) return
      limit?.[Symbol.dispose]()
      limit = abortLate(ending, ms + SIGN_MS, late)
    },
    [Symbol.dispose]() {
      isOver = true
      limit?.[Symbol.dispose]()
    },
  }
}
