// Clients that change objects side by side, each with its own keys, and record the answers.
import { randomUUID } from 'node:crypto'
import { createRandom, type Random } from '../faults/random.ts'
import { ACTS, type Target } from './acts.ts'
import type { Kept } from './kept.ts'

const KEYS_EACH = 4
/** All but those that prepare parts of 5 MiB or versions that are never removed. */
const NAMES = Object.keys(ACTS).filter((name) => name !== 'complete')
/** Any other write of their object changes what they wrote: each has an object of its own. */
const ALONE: ReadonlySet<string> = new Set(['annotate', 'copy of what is annotated'])

export type Load = {
  /** Resolves when so many more writes were acknowledged than at the start. */
  acknowledged(count: number): Promise<void>
  /** Resolves when every client has heard the end of its request. */
  stop(): Promise<void>
}

/** Starts clients; one whose request fails ends. `names` are the acts they choose from. */
export function startLoad(
  kept: Kept,
  target: Target,
  options: { clients: number; seed: number; names?: readonly string[] },
): Load {
  const { clients, seed, names = NAMES } = options
  const first = kept.acknowledged
  const waiting: { count: number; resolve: () => void }[] = []
  let stopping = false
  const tell = () => {
    for (const { count, resolve } of waiting) if (kept.acknowledged - first >= count) resolve()
  }

  async function client(_: unknown, number: number): Promise<void> {
    const random: Random = createRandom(seed * 100 + number)
    while (!stopping) {
      const name = names[random.below(names.length)] ?? ''
      const { bucket, act } = ACTS[name] ?? { bucket: '', act: undefined }
      const key = random.below(KEYS_EACH)
      const path = `${bucket}/client-${number}/${ALONE.has(name) ? randomUUID() : key}`
      try {
        const step = await act?.(kept, target, path)
        if (step === undefined) return
        const answer = await kept.write(target, step.request, step.effect)
        if (answer === undefined || answer.status >= 500) return
      } catch {
        // The preparation broke off: the power is gone, or is about to be.
        return
      } finally {
        tell()
      }
    }
  }
  const running = Promise.all(Array.from({ length: clients }, client))
  return {
    acknowledged: (count) =>
      Promise.race([
        new Promise<void>((resolve) => waiting.push({ count, resolve })),
        running.then(() => {
          throw new Error('all clients ended before the power was cut')
        }),
      ]),
    async stop() {
      stopping = true
      await running
    },
  }
}
