// One sealer at a time: the holder of an advisory lock. A lock can be lost unnoticed (a paused process, a
// dropped connection), so the holder of the greatest epoch wins.
import { sleep } from '#base/clock.ts'
import { invariant } from '#base/errors.ts'
import type { Queryable, State } from '#state/connect.ts'
import { ADVISORY_LOCKS, SCHEMA_KEY } from '#state/advisory-locks.ts'

export type Leadership = AsyncDisposable & {
  /**
   * Waits to become the sealer and gives the epoch to seal with. Keeps one connection of the pool for
   * the lock, until it is asked again (after a failure, say), or disposed of.
   */
  lead(signal: AbortSignal): Promise<number>
}

const RETRY_MS = 1_000

export function createLeadership(state: Pick<State, 'session'>): Leadership {
  let letGo = async (): Promise<void> => undefined
  return {
    async lead(signal) {
      await letGo()
      const enough = Promise.withResolvers<void>()
      const epoch = Promise.withResolvers<number>()
      const held = state.session(async (session) => {
        try {
          epoch.resolve(await becomeSealer(session, signal))
          await enough.promise
        } finally {
          // The connection goes back to the pool and would keep the lock there.
          await session.query('select pg_advisory_unlock_all()')
        }
      })
      // A connection that breaks later shows at the next write: another sealer's epoch fences it.
      held.catch(epoch.reject)
      letGo = async () => {
        enough.resolve()
        await held.catch(() => undefined)
      }
      return epoch.promise
    },
    [Symbol.asyncDispose]: () => letGo(),
  }
}

async function becomeSealer(session: Queryable, signal: AbortSignal): Promise<number> {
  for (;;) {
    signal.throwIfAborted()
    const { rows } = await session.query<{ held: boolean }>(
      `select pg_try_advisory_lock($1, ${SCHEMA_KEY}) as held`,
      [ADVISORY_LOCKS.sealer],
    )
    if (rows[0]?.held === true) break
    await sleep(RETRY_MS, signal)
  }
  const { rows } = await session.query(
    'update receipt_sealer set epoch = epoch + 1 returning epoch',
  )
  const epoch = Number(rows[0]?.['epoch'])
  invariant(Number.isSafeInteger(epoch), 'the fence of the sealer has no row')
  return epoch
}
