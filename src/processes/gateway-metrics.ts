// A gateway's figures for Prometheus. No label has an unbounded set of values.
import { setTimeout as pause } from 'node:timers/promises'
import type { Gauge, Registry } from 'prom-client'
import type { RequestCounts } from '#http/request-counts.ts'
import type { Accounting } from './accounting.ts'
import type { BooksFigures } from './books-figures.ts'
import { requestFigures } from './request-figures.ts'

type Deps = {
  readonly accounting: Accounting
  readonly counts: Pick<RequestCounts, 'operations' | 'tokens'>
  /** Asks the state; may reject, or take its time. */
  readonly books: () => Promise<BooksFigures>
  readonly logLinesLost: () => number
  readonly damagedReads: () => number
}

/** The agent gives a gateway 2 s for all of its figures. */
const BOOKS_MS_MAX = 1000

/** Those of Node itself are counted from the first look on: nobody looks at most gateways. */
export function createGatewayMetrics(deps: Deps): {
  print(): Promise<string>
  /** For the agent, which adds up those of all gateways. */
  json(): Promise<unknown>
} {
  let opened: Promise<Registry> | undefined
  const registry = () => (opened ??= openRegistry(deps))
  return {
    async print() {
      const { AggregatorRegistry } = await import('prom-client')
      const requests = AggregatorRegistry.aggregate([requestFigures(deps.counts)])
      return `${await (await registry()).metrics()}\n${await requests.metrics()}`
    },
    json: async () => [
      ...(await (await registry()).getMetricsAsJSON()),
      ...requestFigures(deps.counts),
    ],
  }
}

// Loading prom-client takes 90 ms of CPU, and its watch over the event loop 1 % of a core for good.
async function openRegistry(deps: Deps): Promise<Registry> {
  const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client')
  const { session, charging, journal } = deps.accounting
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'ergon_' })
  // Where nothing was sampled since the last look its histogram says 292 years.
  registry.removeSingleMetric('ergon_nodejs_eventloop_lag_min_seconds')
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `ergon_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('requests_running', 'Requests that are being answered', () => charging.running)
  gauge(
    'records_pending',
    'Journaled records that the ledger does not have yet',
    () => session.pending,
  )
  gauge('journal_bytes', 'Bytes of journal on disk', () => journal.bytes)
  gauge('session_fresh', '1 while the ledger answers', () => Number(session.fresh))
  gauge(
    'billed_cpu_seconds',
    'CPU time charged to requests, running and settled',
    () => Number(charging.billed().chargedNs) / 1e9,
  )
  gauge(
    'billed_joules',
    'Energy of that CPU time, each request at the tariff that it was admitted at',
    () => Number(charging.billed().accruedNj) / 1e9,
  )
  gauge('blob_reads_damaged', 'Reads that met a damaged or missing blob', deps.damagedReads)
  gauge('access_log_lines_lost', 'Lines of access logs that no bucket got', deps.logLinesLost)
  const ask = askOnce(deps.books)
  // All gateways ask the same books.
  const ofBooks = (name: string, help: string, read: ReadBooks) =>
    new Gauge({
      name: `ergon_${name}`,
      help,
      aggregator: 'max',
      registers: [registry],
      collect() {
        return show(this, ask(), read)
      },
    })
  ofBooks('ledger_alarms', 'Found wrong and not acknowledged', ({ alarms }) => alarms)
  ofBooks(
    'receipts_waiting',
    'Charges in the ledger whose receipts are not signed yet',
    ({ receiptsWaiting }) => receiptsWaiting,
  )
  ofBooks(
    'signers_ready',
    'Signers that have their share of the key and answer; below 3 nothing is sealed',
    ({ signersReady }) => signersReady,
  )
  ofBooks(
    'books_checked_age_seconds',
    'Since the books were checked, which is done each minute',
    ({ checkedAgeS }) => checkedAgeS,
  )
  ofBooks(
    'books_halted',
    '1 while the books do not add up: nothing paid is admitted',
    ({ isHalted }) => Number(isHalted),
  )
  return registry
}

type ReadBooks = (books: BooksFigures) => number | undefined

/** One question for all figures of a look; undefined when the answer does not come in time. */
function askOnce(books: Deps['books']): () => Promise<BooksFigures | undefined> {
  let asked: Promise<BooksFigures | undefined> | undefined
  return () =>
    (asked ??= Promise.race([
      books().catch(() => undefined),
      pause(BOOKS_MS_MAX, undefined, { ref: false }),
    ]).finally(() => (asked = undefined)))
}

/** A figure that is not known is left out: an old one would look like a good one. */
async function show(
  gauge: Gauge,
  books: Promise<BooksFigures | undefined>,
  read: ReadBooks,
): Promise<void> {
  const known = await books
  const figure = known && read(known)
  if (figure === undefined) gauge.remove()
  else gauge.set(figure)
}
