// An agent that tests can kill: it starts cells that burn nothing and never end by themselves, then says
// so on stdout. Killed at any moment it must leave nothing.
//   node agent.ts '{"root":"/tmp/…","level":"plain","dieAfterMs":7}'
import { access } from 'node:fs/promises'
import { join } from 'node:path'

import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import type { CellRoot, CellSpec } from '#cells/cell.ts'
import { createCells } from '#cells/create-cells.ts'
import type { PlaceOptions } from '#cells/place.ts'

export type AgentOptions = Partial<PlaceOptions> & {
  readonly root: string
  /** Its cell is a tenant's, with this root folder. */
  readonly tenant?: CellRoot
  /** Ends by SIGKILL that long after the start of its cell. */
  readonly dieAfterMs?: number
}

const options = JSON.parse(process.argv[2] ?? '{}') as AgentOptions
const cells = await createCells({
  appFolder: join(options.root, 'app'),
  runFolder: join(options.root, 'run'),
  dataFolder: join(options.root, 'data'),
  uidClaims: join(options.root, 'uids'),
  log: createLogger('agent', { level: 'error' }),
  clock: systemClock,
  ...options,
})
const cell = await cells.start(deafSpec(options.root, options.tenant))
if (options.dieAfterMs !== undefined) {
  // Not by a timer, which could not fire in the middle of what starting does.
  const end = performance.now() + options.dieAfterMs
  while (performance.now() < end);
  process.kill(process.pid, 'SIGKILL')
}
await cell.ready()
process.stdout.write('ready\n')

/** Programs that read no fd 3 and have a child in a session of its own, all marked by the root. */
function deafSpec(root: string, tenant: CellRoot | undefined): CellSpec {
  const sleeper = 'sleep 120 & sleep 120; : "$0"'
  // The socket of a tenant's cell is made for it.
  const ready = tenant === undefined ? ': > "$2"; ' : ''
  const script = `/usr/bin/setsid /bin/sh -c "$1" "$0" & ${ready}/bin/sh -c "$1" "$0"; :`
  const socket = join(root, 'run', 'deaf', 'deaf', 's')
  return {
    name: 'deaf',
    argv: ['/bin/sh', '-c', script, root, sleeper, socket],
    environment: { PATH: '/usr/bin:/bin' },
    config: null,
    reads: [],
    writes: [],
    ...(tenant && { root: tenant }),
    socketGroup: 'deaf',
    calls: [],
    limits: {},
    ready: { probe: (path) => access(path), timeoutMs: 5000 },
    socket: 's',
    stop: { signal: 'SIGTERM', graceMs: 1000 },
    restart: { delaysMs: [10], steadyMs: 1000 },
    payer: { kind: 'operator' },
  }
}
