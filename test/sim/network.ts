// The way between a process and the ledger: it delays, loses, repeats, and is cut.
import { ErgonError } from '#base/errors.ts'
import type { Books } from '#ledger/reference/books.ts'
import { createReferenceLedger } from '#ledger/reference-ledger.fixture.ts'
import type { Ledger } from '#ledger/tick.ts'
import type { LifeClock, Schedule } from './schedule.ts'

export type Link = {
  readonly schedule: Schedule
  readonly books: Books
  readonly clock: LifeClock
  /** True while the connection is cut. */
  readonly cut: () => boolean
  /** Lost messages, in percent. */
  readonly lossPercent: () => number
  /** Called before and after each commit of the ledger. */
  readonly point?: ((act: string) => void) | undefined
}

const SLOW_PERCENT = 3
const REPEAT_PERCENT = 2
// Of the lost ticks: the session must not wait for an answer for ever.
const SILENT_CHANCE = 0.3

/** The model as a process sees it over the network. */
export function createNetLedger(link: Link): Ledger {
  const ledger = createReferenceLedger(link.books, () => link.schedule.wallMs)
  return {
    openSession: (process, options) => call(link, () => ledger.openSession(process, options)),
    findSession: (session) => call(link, () => ledger.findSession(session)),
    openSessionOf: (process) => call(link, () => ledger.openSessionOf(process)),
    closeSession: (session) => call(link, () => ledger.closeSession(session)),
    tick: (input) => call(link, () => ledger.tick(input), SILENT_CHANCE),
    posted: (ids) => call(link, () => ledger.posted(ids)),
    lose: (session, first, last) => call(link, () => ledger.lose(session, first, last)),
    alarm: (kind, detail) => call(link, () => ledger.alarm(kind, detail)),
  }
}

/** One call; when a message is lost the connection breaks after a while, or nothing is ever heard. */
function call<T>(link: Link, act: () => Promise<T>, silentChance = 0): Promise<T> {
  const { schedule, clock } = link
  return new Promise((resolve, reject) => {
    const lose = () => {
      if (schedule.chance() >= silentChance)
        schedule.after(schedule.between(5, 1500), () => clock.run(() => reject(lost())))
    }
    const serve = () => {
      if (isLost(link)) return lose()
      link.point?.('before a commit')
      // A process that died on its way to the ledger has asked nothing.
      if (!clock.alive) return undefined
      const answer = act()
      link.point?.('after a commit')
      // It may be heard by nobody.
      answer.catch(() => undefined)
      if (isLost(link)) return lose()
      schedule.after(delayMs(schedule), () => clock.run(() => resolve(answer)))
    }
    schedule.after(delayMs(schedule), serve)
    if (schedule.between(1, 100) <= REPEAT_PERCENT) schedule.after(delayMs(schedule), serve)
  })
}

const isLost = (link: Link) => link.cut() || link.schedule.between(1, 100) <= link.lossPercent()
const delayMs = (schedule: Schedule) =>
  schedule.between(1, 100) <= SLOW_PERCENT ? schedule.between(20, 4500) : schedule.between(1, 8)
const lost = () => new ErgonError({ code: '08006', status: 503 }, 'The connection was lost')
