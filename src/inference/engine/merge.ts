// Several streams as one, each advanced only after its last event was taken.

export type Tagged<T> = { readonly index: number; readonly event: T }

/** Yields events of all streams as they come; leaving early or a failure ends every stream. */
export async function* merge<T>(
  streams: readonly AsyncGenerator<T, void, void>[],
): AsyncGenerator<Tagged<T>, void, void> {
  const next = async (index: number, stream: AsyncGenerator<T, void, void>) => ({
    index,
    stream,
    result: await stream.next(),
  })
  const running = new Map(streams.map((stream, index) => [index, next(index, stream)]))
  try {
    while (running.size > 0) {
      const { index, stream, result } = await Promise.race(running.values())
      if (result.done === true) running.delete(index)
      else {
        yield { index, event: result.value }
        running.set(index, next(index, stream))
      }
    }
  } finally {
    // Suspended streams end at once, working ones at their next step; all are awaited, none abandoned.
    const returned = streams.map((stream) => stream.return())
    await Promise.allSettled([...running.values(), ...returned])
  }
}
