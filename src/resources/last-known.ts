// Facts of the state by id, and as they were last where the state is silent or away: what runs goes on answering.
import { sleep } from '#base/clock.ts'

export interface LastKnown<T> {
  /** The value in the state; the last known value when the state does not answer in a second. Rejects when there is neither. */
  read(id: string): Promise<T>
  /** The value has changed: the last known value is not used again. */
  forget(id: string): void
}

const SILENT_MS = 1000
const KNOWN_MAX = 10_000

export function createLastKnown<T>(ask: (id: string) => Promise<T>): LastKnown<T> {
  const known = new Map<string, { readonly value: T }>()
  const asked = async (id: string) => {
    const value = await ask(id)
    known.delete(id)
    known.set(id, { value })
    for (const [oldest] of known) {
      if (known.size <= KNOWN_MAX) break
      known.delete(oldest)
    }
    return { value }
  }
  return {
    async read(id) {
      const asking = asked(id)
      const late = known.has(id) ? [sleep(SILENT_MS).then(() => known.get(id) ?? asking)] : []
      const answer = Promise.race([asking, ...late])
      return (await answer.catch((error: unknown) => known.get(id) ?? Promise.reject(error))).value
    },
    forget: (id) => void known.delete(id),
  }
}
