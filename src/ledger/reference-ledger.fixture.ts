// The reference ledger behind the interface of the real one, for tests of its callers.
import { closeSession, loseRecords, openSession, tick } from './reference/tick.ts'
import type { Books } from './reference/books.ts'
import type { KnownSession, Ledger } from './tick.ts'

/** Each call is done when it is made; only its answer comes later. */
export function createReferenceLedger(books: Books, nowMs: () => number): Ledger {
  const known = (id: string): KnownSession | undefined => {
    const one = books.sessions.get(id)
    const newestChange = BigInt(books.changes.length)
    return (
      one && {
        session: id,
        open: one.open,
        lastSeq: one.lastSeq,
        lastTick: one.lastTick,
        newestChange,
      }
    )
  }
  return {
    async openSession(process, options) {
      const session = openSession(books, process, nowMs(), options)
      return { session, epoch: BigInt(books.changes.length) }
    },
    findSession: async (session) => known(session),
    async openSessionOf(process) {
      const open = [...books.sessions].find(([, one]) => one.process === process && one.open)
      return open === undefined ? undefined : known(open[0])
    },
    closeSession: async (session) => closeSession(books, session),
    tick: async (input) => tick(books, input, nowMs()),
    async posted(ids) {
      return new Set(ids.filter((id) => books.charges.some((charge) => charge.id === id)))
    },
    lose: async (session, first, last) => loseRecords(books, { session, first, last }),
    async alarm(kind, detail) {
      books.alarms.push({ kind, detail })
    },
  }
}
