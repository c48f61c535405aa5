// A gateway's figures for Prometheus. No label has an unbounded set of values.
import type { Registry } from 'prom-client'
import type { Accounting } from './accounting.ts'

type Deps = { readonly accounting: Accounting; readonly logLinesLost: () => number }

/** Those of Node itself are counted from the first look on: nobody looks at most gateways. */
export function createGatewayMetrics(deps: Deps): {
  print(): Promise<string>
  /** For the agent, which adds up those of all gateways. */
  json(): Promise<unknown>
} {
  let opened: Promise<Registry> | undefined
  const registry = () => (opened ??= openRegistry(deps))
  return {
    print: async () => (await registry()).metrics(),
    json: async () => (await registry()).getMetricsAsJSON(),
  }
}

// Loading prom-client takes 90 ms of CPU, and its watch over the event loop 1 % of a core for good.
async function openRegistry(deps: Deps): Promise<Registry> {
  const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client')
  const { session, charging, journal } = deps.accounting
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'ergon_' })
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
  gauge('access_log_lines_lost', 'Lines of access logs that no bucket got', deps.logLinesLost)
  return registry
}
