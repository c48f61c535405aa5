// The ingress of the product in front of one instance: its routes, turns, uses and limits; the agent is the parent's.
import { createLogger } from '#base/log.ts'
import { createRequestLines } from '#http/request-lines.ts'
import { createRoutedCounter } from '#ingress/routed-counts.ts'
import { RouteTable } from '#ingress/routes.ts'
import { listenPlain } from '#ingress/server.ts'
import { tuneForRequests } from '#node/program-flags.ts'
import { createTurns } from '#ingress/turns.ts'
import { createInstanceUses } from '#ingress/uses.ts'
import { createCausedByCells } from '#node/meter/caused-by-cells.ts'

tuneForRequests()
const [socketPath = '', secret = '', port = ''] = process.argv.slice(2)
const routes = new RouteTable(undefined)
routes.put([
  {
    id: 'fn_a',
    kind: 'function',
    account: 'acct_a',
    host: 'localhost',
    path: '/',
    timeoutS: 30,
    concurrency: 200,
    scale: null,
  },
])
const caused = createCausedByCells()
await listenPlain({
  routes,
  uses: createInstanceUses({ agent: { socketPath, secret }, caused }, { calmMs: 60_000 }),
  nobody: caused.nobody,
  turns: createTurns(),
  ended: createRoutedCounter().ended,
  log: createLogger('bench', { level: 'error' }),
  trusts: () => false,
  lines: createRequestLines(),
  listen: { host: '127.0.0.1', port: Number(port) },
})
process.send?.({ port: Number(port) })
process.once('disconnect', () => process.exit(0))
