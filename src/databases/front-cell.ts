// The database proxy as a cell, and the agent's socket that it asks for servers. Both start with the first database.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Cell } from '#cells/cell.ts'
import { makeOpenFolder } from '#cells/place.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { programCell, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { serveAwake, type AwakeServer } from './awake-server.ts'
import { onceDone } from './once-done.ts'
import type { ProxyConfig } from './programs/pg-proxy.ts'
import { selfSigned } from './self-signed.ts'
import { DATABASE_SOCKETS, type Servers } from './servers.ts'

export const PROXY: Program = { file: 'databases/programs/pg-proxy.ts', flags: [ONE_COLLECTOR] }
export const PROXY_CELL = 'pg-proxy'
const AGENT_SOCKETS = 'db-agent'

export interface FrontCell {
  /** Starts the proxy unless it runs; resolves when it listens. */
  ready(signal: AbortSignal): Promise<void>
  /** The agent's socket; undefined before the first start. */
  awake(): Promise<AwakeServer | undefined>
}

export function createFrontCell(
  core: AgentCore,
  { host, servers }: { readonly host: string; readonly servers: Servers },
): FrontCell {
  let awake: Promise<AwakeServer> | undefined
  const front = onceDone(async () => {
    const secret = randomBytes(32).toString('base64url')
    const folder = join(core.data.runFolder, AGENT_SOCKETS)
    makeOpenFolder(folder)
    const socket = join(folder, 'awake.sock')
    awake = serveAwake({ socket, secret, state: core.state, servers, log: core.log })
    await awake
    return await startProxy(core, { host, agent: { socketPath: socket, secret } })
  })
  return {
    async ready(signal) {
      const cell = await front()
      await cell.ready(AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)]))
    },
    awake: async () => await awake,
  }
}

async function startProxy(
  { cells, config, data, place, address }: AgentCore,
  { host, agent }: { readonly host: string; readonly agent: ProxyConfig['agent'] },
): Promise<Cell> {
  const folder = data.at('databases', 'tls')
  const settings: Omit<ProxyConfig, 'socket' | 'logLevel'> = {
    listen: { host: config.host, port: data.pgPort },
    certificate: await selfSigned(folder, host),
    state: address,
    agent,
  }
  return await cells.start(
    programCell(PROXY, {
      name: PROXY_CELL,
      place,
      config: settings,
      socketGroup: PROXY_CELL,
      writes: [folder],
      calls: [STATE_SOCKETS, DATABASE_SOCKETS, AGENT_SOCKETS],
    }),
  )
}
