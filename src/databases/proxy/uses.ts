// Databases that have sessions in this process: the agent keeps the server of each running, and their account is billed,
// until the last one ends.
import { START_MS, type Awake } from '#databases/agent-socket/awake.ts'
import type { Bill } from './bill.ts'
import type { Role } from './roles.ts'
import { UsedDatabase, type BegunUse, type Use } from './used-database.ts'
import type { FatalError } from '#wire/messages.ts'

type TakenDatabase = Pick<Role, 'name' | 'database' | 'databaseName' | 'account'>

export interface Uses {
  /**
   * A session more of a database, whose server runs until the release; undefined where the database has too many.
   * Rejects with NotAwake, with the error of charging, or with the signal's reason.
   */
  take(database: TakenDatabase, signal: AbortSignal): Promise<Use | undefined>
  /** Ends every session with words; resolves when all are charged. */
  close(fatal: FatalError): Promise<void>
}

export type UsesDeps = {
  /** Asks for a running server; see keepAwake(). */
  readonly wake: (login: TakenDatabase, signal: AbortSignal) => Promise<Awake>
  readonly bill: (database: TakenDatabase) => Promise<Bill>
}

/** The start of a server that recovers from a crash has words of its own before. */
const WAKE_TIMEOUT_MS = START_MS + 10_000

export function createUses(deps: UsesDeps): Uses {
  const used = new Map<string, UsedDatabase>()
  return {
    take(database, signal) {
      const id = database.database
      const one =
        used.get(id) ??
        new UsedDatabase(
          (ending) => begin(deps, database, ending),
          () => {
            if (used.get(id) === one) used.delete(id)
          },
        )
      used.set(id, one)
      return one.take(signal)
    },
    close: async (fatal) =>
      void (await Promise.all([...used.values()].map((one) => one.close(fatal)))),
  }
}

/** The server and the bill, at the same time; both or none. */
async function begin(
  { wake, bill }: UsesDeps,
  database: TakenDatabase,
  ending: AbortSignal,
): Promise<BegunUse> {
  const [server, billed] = await Promise.allSettled([
    wake(database, AbortSignal.any([ending, AbortSignal.timeout(WAKE_TIMEOUT_MS)])),
    bill(database),
  ])
  if (server.status === 'fulfilled' && billed.status === 'fulfilled')
    return { awake: server.value, bill: billed.value }
  if (server.status === 'fulfilled') server.value.release()
  if (billed.status === 'fulfilled') await billed.value.end()
  throw server.status === 'rejected' ? server.reason : (billed as PromiseRejectedResult).reason
}
