/** Runs work at most once successfully; callers in the meantime wait for the same. */
export function onceDone<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () =>
    (done ??= work().catch((error: unknown) => {
      done = undefined
      throw error
    }))
}
