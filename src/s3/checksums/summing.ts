// Running checksums of one body, in one pass: inline here, on a thread in sum-thread.ts.
import type { ChecksumAlgorithm, Hasher, Hashers } from './algorithms.ts'

export type Sums = ReadonlyMap<ChecksumAlgorithm, Buffer>

/** Ended by `digest` or `drop`. Bytes must not change until then: the thread's keeps some after `update`. */
export interface Summing {
  /** Adds bytes; when it returns a promise, the caller waits for it before the next call. */
  update(bytes: Buffer): Promise<void> | undefined
  /** The checksums of all bytes. */
  digest(): Promise<Sums>
  /** Abandons the sums; resolves when no summing runs any more. Does nothing after `digest`. */
  drop(): Promise<void> | undefined
}

/** Sums on the calling thread. */
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

export type RunningSums = ReadonlyMap<ChecksumAlgorithm, Hasher>

export async function openAll(
  hashers: Hashers,
  algorithms: Iterable<ChecksumAlgorithm>,
): Promise<RunningSums> {
  const running = new Map<ChecksumAlgorithm, Hasher>()
  for (const algorithm of algorithms) running.set(algorithm, await hashers.open(algorithm))
  return running
}

export const digestAll = (running: RunningSums): Sums =>
  new Map([...running].map(([algorithm, hasher]) => [algorithm, hasher.digest()]))
