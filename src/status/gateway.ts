// The service's own pages in a gateway: health, readiness, metrics.
import { Secret } from '#base/log.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { booksFigures } from './metrics/books-figures.ts'
import { createGatewayMetrics, METRICS_PAGE } from './metrics/gateway-metrics.ts'
import { powerFigures } from './metrics/power-figures.ts'
import { taskFigures } from '#tasks/admin.ts'
import { COUNTS_PAGE, type CountsPage } from './page/counts.ts'
import { createHealth, createMetrics, createReady } from './operations/service.ts'

export type StatusSettings = {
  readonly meter: string
  readonly metricsToken?: string
}

export const STATUS_GATEWAY: GatewayProduct<StatusSettings> = { name: 'status', open }

function open(core: GatewayCore, { meter, metricsToken }: StatusSettings): GatewayPart {
  const { readers, unready } = core
  const metrics = createGatewayMetrics({
    ...core,
    books: () => booksFigures(readers),
    power: () => powerFigures(readers, meter),
    tasks: () => taskFigures(readers),
  })
  const token = metricsToken === undefined ? undefined : new Secret(metricsToken)
  return {
    endpoints: {
      'service.health': { handle: createHealth() },
      'service.ready': { handle: createReady(unready) },
      'service.metrics': { handle: createMetrics({ token, print: metrics.print }) },
    },
    pages: {
      [METRICS_PAGE]: metrics.json,
      [COUNTS_PAGE]: (): CountsPage => ({ counts: core.counts.models() }),
    },
  }
}
