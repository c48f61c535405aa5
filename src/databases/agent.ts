// Databases in the agent: their servers, the proxy, and the reconciler that makes and removes them.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import { Secret } from '#base/log.ts'
import type { Cell } from '#cells/cell.ts'
import { makeOpenFolder } from '#cells/place.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { programCell, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { databaseHost } from '#node/report.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { installPostgres, type PostgresInstall } from '#postgres/install.ts'
import { reconcile, type Resource } from '#resources/reconciler.ts'
import { serveAwake, UNPAID, type AwakeServer } from './awake-server.ts'
import type { GatewaySettings } from './settings.ts'
import { passwordKeyOf } from './passwords.ts'
import type { ProxyConfig } from './programs/pg-proxy.ts'
import { selfSigned } from './self-signed.ts'
import { CELL_PREFIX, createServers, DATABASE_SOCKETS, type Servers } from './servers.ts'

const PROXY: Program = { file: 'databases/programs/pg-proxy.ts', flags: [ONE_COLLECTOR] }
const PROXY_CELL = 'pg-proxy'
const AGENT_SOCKETS = 'db-agent'
const INSTALL_TIMEOUT_MS = 600_000
const FUNDS_LOOK_MS = 5000

export const DATABASES_AGENT: AgentProduct = { name: 'databases', programs: [PROXY], open }

async function open(core: AgentCore, starting: AbortSignal): Promise<AgentPart> {
  const { config, data } = core
  const host = databaseHost(config) ?? 'localhost'
  const gateway: GatewaySettings = {
    isOn: config.databases,
    passwordKey: passwordKeyOf(data.secrets.state),
    region: config.region,
    host,
    port: data.pgPort,
  }
  if (!config.databases) return { gateway: { settings: gateway } }
  const servers = serversOf(core)
  const ending = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  let awake: Promise<AwakeServer> | undefined
  const front = onceDone(async () => {
    const secret = randomBytes(32).toString('base64url')
    const folder = join(data.runFolder, AGENT_SOCKETS)
    makeOpenFolder(folder)
    const socket = join(folder, 'awake.sock')
    awake = serveAwake({ socket, secret, state: core.state, servers, log: core.log })
    await awake
    return await startProxy(core, { host, agent: { socketPath: socket, secret } })
  })
  const frontReady = async (signal: AbortSignal) => {
    const cell = await front()
    await cell.ready(AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)]))
  }
  // The ready line names the endpoint: the owner of a database can connect from then on.
  const { rows } = await core.state.query(
    "select from resources where kind = 'database' and desired <> 'deleted' limit 1",
  )
  if (rows.length > 0) await frontReady(starting)
  return {
    gateway: { settings: gateway },
    cells: [
      { stage: 'workers', name: PROXY_CELL },
      { stage: 'signers', name: CELL_PREFIX },
    ],
    async start() {
      const { signal } = ending
      running = Promise.all([
        reconcile(
          {
            state: core.state,
            log: core.log,
            kind: 'database',
            async deploy(resource) {
              await frontReady(signal)
              await servers.deploy({ ...resource, role: await ownerOf(core, resource) }, signal)
            },
            remove: ({ id }) => servers.remove(id),
          },
          signal,
        ),
        watchFunds(core, { servers, cut: async (id) => (await awake)?.cut(id, UNPAID), signal }),
      ]).catch((error: unknown) => core.log.error('Databases are not kept', { error }))
    },
    async close() {
      ending.abort()
      servers.close()
      await running
      await (await awake)?.close()
    },
  }
}

const serversOf = (core: AgentCore): Servers =>
  createServers({
    cells: core.cells,
    log: core.log,
    install: onceDone(() => install(core)),
    folder: core.data.at('databases'),
    runFolder: core.data.runFolder,
    superuserPassword: new Secret(passwordKeyOf(`superuser ${core.data.secrets.state}`)),
    idleMs: core.config.dbIdleSeconds * 1000,
  })

/** Runs work at most once successfully; callers in the meantime wait for the same. */
function onceDone<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () =>
    (done ??= work().catch((error: unknown) => {
      done = undefined
      throw error
    }))
}

const install = ({ config, data, artifacts, log }: AgentCore): Promise<PostgresInstall> =>
  installPostgres({
    folder: data.at('postgres'),
    ...(config.pgBin === undefined ? {} : { ownBinFolder: config.pgBin }),
    artifacts,
    log,
    signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS),
  })

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

async function ownerOf({ state }: AgentCore, { id }: Resource): Promise<string> {
  const { rows } = await state.query<{ name: string }>(
    'select name from database_roles where database = $1 order by name limit 1',
    [id],
  )
  return rows[0]?.name ?? ''
}

/** Ends the servers of accounts that cannot pay any more. */
async function watchFunds(
  { state, log }: AgentCore,
  deps: {
    readonly servers: Servers
    readonly cut: (id: string) => Promise<void>
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { servers, cut, signal } = deps
  while (!signal.aborted) {
    await sleep(FUNDS_LOOK_MS, signal).catch(() => undefined)
    const all = servers.running()
    if (all.length === 0 || signal.aborted) continue
    try {
      const { rows } = await state.query<{ account: string }>(
        'select account from unnest($1::text[]) as a (account) where not account_can_pay(account)',
        [[...new Set(all.map(({ account }) => account))]],
      )
      const unpaid = new Set(rows.map(({ account }) => account))
      for (const { id } of all.filter(({ account }) => unpaid.has(account))) {
        await cut(id)
        await servers.stop(id)
      }
    } catch (error) {
      log.warn('The funds of databases could not be looked at', { error: messageOf(error) })
    }
  }
}
