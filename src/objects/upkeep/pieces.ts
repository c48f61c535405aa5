// Pieces of one round of work: a piece that fails keeps no other piece from its work.

/** Rejects with the first error, after all pieces; at once when the signal ends. */
export async function eachInTurn(
  signal: AbortSignal,
  pieces: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const errors: unknown[] = []
  for (const piece of pieces) {
    signal.throwIfAborted()
    await piece().catch((error: unknown) => errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
}

/** Rejects with the first error, after all work. */
export async function eachAtOnce(work: readonly Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(work)
  const failed = ends.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
