// The database proxies as cells, on one port, the process of backups, and the agent's socket that all ask for servers.
// All start with the first database.
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { BlobSettings } from '#blobs/stores.ts'
import type { Cell } from '#cells/cell.ts'
import { makeOpenFolder } from '#cells/place.ts'
import type { AgentCore } from '#node/agent-part.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import type { Config } from '#config/config.ts'
import { programCell, socketOf, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import type { ServedCertificate } from './certificate/served.ts'
import { AGENT_SOCKETS } from './agent-socket/awake.ts'
import type { AskedParts, AwakeServer } from './agent-socket/awake-server.ts'
import type { HeldPort } from './held-port.ts'
import { startBackups } from './backups/backups-cell.ts'
import { onceDone } from '#base/once-done.ts'
import type { ProxyConfig } from './programs/pg-proxy.ts'
import { DATABASE_SOCKETS } from './server/servers.ts'

export const PROXY: Program = { file: 'databases/programs/pg-proxy.ts', flags: [ONE_COLLECTOR] }
/** The beginning of the cells' names, and their socket group. */
export const PROXY_CELLS = 'pg-proxy'

export const proxyNames = ({ pgProxies }: Pick<Config, 'pgProxies'>): string[] =>
  Array.from({ length: pgProxies }, (_, index) => `${PROXY_CELLS}-${index + 1}`)

export interface FrontCell {
  /** Starts what does not run yet; resolves when the proxies listen. May be called again after it has failed. */
  ready(signal: AbortSignal): Promise<void>
}

export function createFrontCell(parts: {
  /** Opens the agent's socket. */
  readonly listen: () => Promise<void>
  /** Start the cells that ask there. */
  readonly starts: readonly (() => Promise<Pick<Cell, 'ready'>>)[]
}): FrontCell {
  const listening = onceDone(parts.listen)
  // Each by itself: a cell whose neighbour did not start is there already.
  const starts = parts.starts.map(onceDone)
  return {
    async ready(signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)])
      await listening()
      const cells = await Promise.all(starts.map((start) => start()))
      await Promise.all(cells.map((cell) => cell.ready(limit)))
    },
  }
}

/** Where the agent answers the programs of databases, in this life. */
export const agentSocketOf = ({ data }: Pick<AgentCore, 'data'>): AgentSocket => ({
  socketPath: join(data.runFolder, AGENT_SOCKETS, 'awake.sock'),
  secret: randomBytes(32).toString('base64url'),
})

/** The parts of a node: its proxies and its process of backups. */
export function frontParts(
  core: AgentCore,
  awake: AwakeServer,
  asked: AskedParts & {
    readonly certificate: ServedCertificate
    readonly port: HeldPort
    readonly agent: AgentSocket
    readonly blobs: () => Promise<BlobSettings>
  },
): Parameters<typeof createFrontCell>[0] {
  const { agent } = asked
  return {
    async listen() {
      makeOpenFolder(dirname(agent.socketPath))
      await asked.certificate.open()
      await asked.port.release()
      await awake.listen(agent, asked)
    },
    starts: [
      ...proxyNames(core.config).map(
        (name, index) => () => startProxy(core, { agent, name, number: index + 1 }),
      ),
      async () => await startBackups(core, { agent, blobs: await asked.blobs() }),
    ],
  }
}

async function startProxy(
  { cells, config, data, place, address, meterName }: AgentCore,
  own: Pick<ProxyConfig, 'name' | 'number' | 'agent'>,
): Promise<Cell> {
  const names = proxyNames(config)
  const journalFolder = data.at('journals', own.name)
  const settings: Omit<ProxyConfig, 'socket' | 'logLevel'> = {
    ...own,
    proxies: names.map((name) => socketOf(place, PROXY_CELLS, name)),
    listen: { host: config.host, port: data.pgPort, shared: names.length > 1 },
    state: address,
    journalFolder,
    journalSync: config.journalSync === 'sync',
    meter: meterName,
  }
  return await cells.start(
    programCell(PROXY, {
      name: own.name,
      user: PROXY_CELLS,
      place,
      config: settings,
      socketGroup: PROXY_CELLS,
      bills: true,
      writes: [journalFolder],
      calls: [STATE_SOCKETS, DATABASE_SOCKETS, AGENT_SOCKETS, PROXY_CELLS],
    }),
  )
}
