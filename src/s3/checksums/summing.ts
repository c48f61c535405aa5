// Running checksums of one body, all in one pass: in line here, on a thread in sum-thread.ts.
import type { ChecksumAlgorithm, Hasher, Hashers } from './algorithms.ts'

export type Sums = ReadonlyMap<ChecksumAlgorithm, Buffer>

/** To be ended by `digest` or `drop`. Bytes that were given must not change before it has ended. */
export interface Summing {
  /** Takes the next bytes; where it gives a promise, more may be given when that resolves. */
  update(bytes: Buffer): Promise<void> | undefined
  /** The checksums of all that was given. */
  digest(): Promise<Sums>
  /** Gives up. Resolves when nothing is being summed any more; after `digest` it does nothing. */
  drop(): Promise<void> | undefined
}

/** Sums on the thread that calls. */
export async function sumInLine(
  hashers: Hashers,
  algorithms: ReadonlySet<ChecksumAlgorithm>,
): Promise<Summing> {
  const running = await openAll(hashers, algorithms)
  return {
    update(bytes) {
      for (const hasher of running.values()) hasher.update(bytes)
      return undefined
    },
    digest: async () => digestAll(running),
    drop: () => undefined,
  }
}

export type Running = ReadonlyMap<ChecksumAlgorithm, Hasher>

export async function openAll(
  hashers: Hashers,
  algorithms: Iterable<ChecksumAlgorithm>,
): Promise<Running> {
  const running = new Map<ChecksumAlgorithm, Hasher>()
  for (const algorithm of algorithms) running.set(algorithm, await hashers.open(algorithm))
  return running
}

export const digestAll = (running: Running): Sums =>
  new Map([...running].map(([algorithm, hasher]) => [algorithm, hasher.digest()]))
