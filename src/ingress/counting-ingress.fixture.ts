// The ingress as a process of its own in front of instances of the parent, which counts its CPU by cell.
import { createLogger } from '#base/log.ts'
import { createRequestLines } from '#http/request-lines.ts'
import { createCausedByCells } from '#node/meter/caused-by-cells.ts'
import { createRoutedCounter } from './routed-counts.ts'
import { testRoute } from './route.fixture.ts'
import { RouteTable } from './routes.ts'
import { listenPlain } from './server.ts'
import { createTurns } from './turns.ts'
import { createInstanceUses } from './uses.ts'

const [socketPath = '', ...hosts] = process.argv.slice(2)
const caused = createCausedByCells()
const routes = new RouteTable(undefined)
routes.put(hosts.map((host) => testRoute({ id: `fn_${host}`, host, account: `acct_${host}` })))
const { port } = await listenPlain({
  routes,
  uses: createInstanceUses({ agent: { socketPath, secret: 'secret' }, caused }, { calmMs: 60_000 }),
  nobody: caused.nobody,
  turns: createTurns(),
  ended: createRoutedCounter().ended,
  log: createLogger('test', { level: 'error' }),
  trusts: () => false,
  lines: createRequestLines(),
  listen: { host: '127.0.0.1', port: 0 },
})
process.send?.({ port })
process.on('message', () => {
  const totals = caused.totals()
  const { user, system } = process.cpuUsage()
  process.send?.({ totals, cpuNs: (user + system) * 1000 })
})
process.once('disconnect', () => process.exit(0))
