// Work that has a server for itself, and its end from outside.

/** Work that has a server for itself: uses wait for its end, and so would a stop. */
export function createAlone() {
  const running = new Map<string, AbortController>()
  return {
    async run<T>(
      id: string,
      signal: AbortSignal,
      work: (signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const ending = new AbortController()
      running.set(id, ending)
      try {
        return await work(AbortSignal.any([signal, ending.signal]))
      } catch (error) {
        // The work fails of the end of its server.
        ending.signal.throwIfAborted()
        throw error
      } finally {
        running.delete(id)
      }
    },
    /** Ends such work with a reason; false where there is none. */
    end(id: string, why: Error | undefined): boolean {
      const one = why === undefined ? undefined : running.get(id)
      one?.abort(why)
      return one !== undefined
    },
  }
}
