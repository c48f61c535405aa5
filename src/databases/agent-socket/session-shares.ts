// The sessions of a database, shared out to the proxies that use it: their shares together never exceed the most. A
// proxy that needs more gets the free part, or the unused part that the others return.
import { sleep } from '#base/clock.ts'

/** Sessions of a database at once, over all proxies. */
export const SESSIONS_MAX = 45

/** A proxy that uses the database. */
export type Holder = {
  /** Tells the proxy its share. */
  readonly tell: (sessions: number) => void
  /** Asks the proxy to give back what it does not use. */
  readonly recall: () => void
}

export interface SessionShares {
  /** Gives a first share and tells it. */
  join(holder: Holder): void
  /** Enlarges the share where that can be done, and tells it in any case. */
  more(holder: Holder): Promise<void>
  /** The holder has given back so many, after a recall. */
  giveBack(holder: Holder, sessions: number): void
  leave(holder: Holder): void
}

const STEP = 4
/** A proxy that does not answer a recall in this time gives nothing back. */
const RECALL_MS = 500

export function createSessionShares(holdersMax: number): SessionShares {
  const shares = new Map<Holder, number>()
  const recalled = new Set<Holder>()
  let allAnswered: () => void = () => undefined
  /** One enlargement after the other. */
  let turn: Promise<void> = Promise.resolve()

  const free = () => SESSIONS_MAX - shares.values().reduce((sum, share) => sum + share, 0)
  const grow = (holder: Holder, by: number) => {
    const share = (shares.get(holder) ?? 0) + Math.min(by, free())
    shares.set(holder, share)
    holder.tell(share)
  }
  const answered = (holder: Holder) => {
    if (recalled.delete(holder) && recalled.size === 0) allAnswered()
  }
  const recallOthers = async (holder: Holder): Promise<void> => {
    for (const other of shares.keys()) if (other !== holder) recalled.add(other)
    if (recalled.size === 0) return
    const late = new AbortController()
    const all = new Promise<void>((resolve) => (allAnswered = resolve))
    for (const other of recalled) other.recall()
    await Promise.race([all, sleep(RECALL_MS, late.signal).catch(() => undefined)])
    late.abort()
    recalled.clear()
  }
  return {
    join: (holder) => grow(holder, Math.floor(SESSIONS_MAX / holdersMax)),
    more(holder) {
      turn = turn.then(async () => {
        if (free() === 0) await recallOthers(holder)
        if (shares.has(holder)) grow(holder, STEP)
      })
      return turn
    },
    giveBack(holder, sessions) {
      const share = shares.get(holder)
      if (share !== undefined && sessions > 0) shares.set(holder, share - Math.min(share, sessions))
      answered(holder)
    },
    leave(holder) {
      shares.delete(holder)
      answered(holder)
    },
  }
}
