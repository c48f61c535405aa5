// Nonces live in memory only and are taken out before they are used. Two answers to one nonce would
// give the signer's share away, so a restart must forget them, and nothing may ever write them down.
import { randomUUID } from 'node:crypto'
import { forget, type Nonces, type ShareHolder } from './frost-signing.ts'
import { NONCES_MAX, refusal, type Nonce } from './wire.ts'

export type NoncePool = {
  /** Makes nonces ahead of need; the oldest go when there are too many. */
  make(count: number): Nonce[]
  /** Takes a pair out for its one use. Throws the refusal `unknown_nonce`. */
  take(id: string): Nonces
}

export function createNonces(share: ShareHolder): NoncePool {
  // The name of this life of the process keeps ids of an earlier one from meaning anything.
  const life = randomUUID()
  const kept = new Map<string, Nonces>()
  let made = 0
  return {
    make(count) {
      if (!Number.isInteger(count) || count < 1 || count > NONCES_MAX)
        throw refusal('malformed', `Could not make so many nonces: ${count}`)
      return Array.from({ length: count }, () => {
        const { nonces, commitment } = share.commit()
        const id = `${life}.${made++}`
        kept.set(id, nonces)
        for (const [oldest, unused] of kept) {
          if (kept.size <= NONCES_MAX) break
          forget(unused)
          kept.delete(oldest)
        }
        return { id, commitment }
      })
    },
    take(id) {
      const nonces = kept.get(id)
      if (nonces === undefined)
        throw refusal('unknown_nonce', `Used, forgotten or never made: ${id}`)
      kept.delete(id)
      return nonces
    },
  }
}
