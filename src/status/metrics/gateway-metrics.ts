// A gateway's figures for Prometheus. No label has an unbounded set of values.
import type { Registry } from 'prom-client'
import type { GatewayCore } from '#http/gateway-part.ts'
import { ask } from '#node/cell-specs.ts'
import { requestFigures } from './request-figures.ts'
import { addStateGauges, type GaugeQueries } from './state-gauges.ts'

type Deps = GaugeQueries & Pick<GatewayCore, 'name' | 'others' | 'counts' | 'figures'>

/** A page of a gateway's inside: its own figures as JSON. */
export const METRICS_PAGE = '/metrics'
/** Also what the agent gives a gateway for all of its figures. */
const OTHERS_MS_MAX = 2000

/** Node's own metrics are counted from the first scrape on: most gateways are never scraped. */
export function createGatewayMetrics(deps: Deps): {
  /**
   * The figures of all gateways of the node, each with the name of its gateway: a scrape meets any of them.
   * They are not added up, as the end of one would look like a step back of all. A silent gateway is left out.
   */
  print(): Promise<string>
  /** For the agent, which adds up those of all gateways. */
  json(): Promise<unknown>
} {
  let opened: Promise<Registry> | undefined
  const registry = () => (opened ??= openRegistry(deps))
  const json = async () => [
    ...(await (await registry()).getMetricsAsJSON()),
    ...requestFigures(deps.counts),
  ]
  return {
    async print() {
      const { AggregatorRegistry } = await import('prom-client')
      const limit = AbortSignal.timeout(OTHERS_MS_MAX)
      const others = deps.others.map(async ({ name, socket }) => {
        const figures = await ask(socket, METRICS_PAGE, limit).catch(() => [])
        return named(figures as Figures, name)
      })
      const own = named((await json()) as Figures, deps.name)
      return await AggregatorRegistry.aggregate([own, ...(await Promise.all(others))]).metrics()
    },
    json,
  }
}

type Figures = readonly { readonly values: readonly { readonly labels: object }[] }[]

const named = (figures: Figures, gateway: string): Figures =>
  figures.map((figure) => ({
    ...figure,
    values: figure.values.map((value) => ({ ...value, labels: { ...value.labels, gateway } })),
  }))

// Loading prom-client takes 90 ms of CPU, and its watch over the event loop 1 % of a core for good.
async function openRegistry(deps: Deps): Promise<Registry> {
  const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'ergon_' })
  // Where nothing was sampled since the last scrape its histogram says 292 years.
  registry.removeSingleMetric('ergon_nodejs_eventloop_lag_min_seconds')
  // Deprecated by Node, and gauges with the ending of counters.
  for (const name of ['handles', 'requests', 'resources'])
    for (const ending of ['', '_total'])
      registry.removeSingleMetric(`ergon_nodejs_active_${name}${ending}`)
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `ergon_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  for (const { name, help, read } of deps.figures()) gauge(name, help, read)
  addStateGauges(registry, Gauge, deps)
  return registry
}
