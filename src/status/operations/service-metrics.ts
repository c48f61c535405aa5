// GET /metrics: figures in the Prometheus text format, over TCP only to the holder of ERGON_METRICS_TOKEN.
import { timingSafeEqual } from 'node:crypto'
import type { Secret } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { Handler } from '#http/reply.ts'

export function createMetrics(deps: {
  token: Secret | undefined
  print: () => Promise<string>
}): Handler {
  return async ({ headers }) => {
    if (deps.token === undefined) throw fault('not_found', 'Could not find the path: "/metrics"')
    const given = Buffer.from(headers['authorization'] ?? '')
    const wanted = Buffer.from(`Bearer ${deps.token.reveal()}`)
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
      throw fault('token_unknown', 'Could not accept the token: it is not that of the metrics')
    const text = await deps.print()
    return {
      kind: 'known',
      status: 200,
      contentType: 'text/plain; version=0.0.4',
      body: () => text,
    }
  }
}
