// The process by which what accounts run reaches other machines. It has no secret but the key of its tickets.
import { rmSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { createResolve } from '#egress/resolve.ts'
import { serveInside } from '#node/inside.ts'
import type { OwnAddress } from '#node/own-addresses.ts'
import { CAUSED_PAGE } from '#node/meter/caused-cpu.ts'
import { createCausedByCells } from '#node/meter/caused-by-cells.ts'
import { createReach } from '#egress-proxy/reach.ts'
import { createEgressServer } from '#egress-proxy/server.ts'
import { createConnectionTurns } from '#egress-proxy/turns.ts'
import { createTeller } from '#egress-proxy/unreached.ts'

export type EgressProxyConfig = {
  /** The key of tickets. */
  readonly key: string
  readonly own: readonly OwnAddress[]
  /** Addresses that are permitted although they are not public. */
  readonly networks: readonly string[]
  /** The socket of the cells' connections. */
  readonly outlet: string
  readonly socket: string
  readonly logLevel: LogLevel
}

const config = await readConfig<EgressProxyConfig>()
const log = createLogger('egress', { level: config.logLevel })
endOnFault(log)
giveWay()
const { own, networks } = config
const caused = createCausedByCells()
const server = createEgressServer({
  key: config.key,
  own,
  reach: createReach({ own, networks, resolve: createResolve() }),
  turns: createConnectionTurns(systemClock),
  caused,
  tell: createTeller((line) => void process.stdout.write(line)),
})
rmSync(config.outlet, { force: true })
await new Promise<void>((resolve, reject) => {
  server.once('error', reject)
  server.listen(config.outlet, resolve)
})
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  [CAUSED_PAGE]: () => caused.totals(),
})

process.once('SIGTERM', () => {
  server.close()
  void inside.close().then(() => process.exit(0))
})
onParentGone(() => process.exit(0))
