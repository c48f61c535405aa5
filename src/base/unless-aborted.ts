// Work that is left when a signal aborts.

/** Rejects with the signal's reason as soon as it aborts; the work goes on, and its result goes to `late`. */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  late: (made: T) => void = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      reject(signal.reason as Error)
      work.then(late, () => undefined)
    }
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
