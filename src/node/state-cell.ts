// Our own state: the PostgreSQL cell, or DATABASE_URL; connected, migrated and ready.
import { join } from 'node:path'
import { createArtifacts } from '#artifacts/fetch.ts'
import { Secret, type Logger } from '#base/log.ts'
import type { Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { toolEnvironment } from '#config/env.ts'
import { POSTGRES_FOLDER } from '#contract/databases/client-tools.ts'
import { fault } from '#contract/errors.ts'
import { initialiseCluster } from '#postgres/cluster.ts'
import { installPostgres } from '#postgres/install.ts'
import { postgresCell } from '#postgres/postgres-cell.ts'
import { connectState, type Queryable, type State, type StateAddress } from '#state/connect.ts'
import { addressOfUrl } from '#state/address-of-url.ts'
import { unusable } from '#state/database-url.ts'
import { migrate } from '#state/migrate.ts'
import type { Schema } from '#state/schema.ts'
import type { DataFolder } from './data-folder.ts'
import type { Reporter } from './report.ts'
import { alarmUnsafeSettings } from './state-settings.ts'
import { demandSameState, rememberState } from './state-identity.ts'
import { lockState } from './state-lock.ts'

export const STATE_SOCKETS = 'state'
const NAME = 'postgres'
const CONNECTIONS = 6
const INSTALL_TIMEOUT_MS = 600_000
const READY_TIMEOUT_MS = 60_000
const SERVER_VERSION_NUM = 16
/**
 * The server's places (`max_connections`) for pools and listeners. A gateway has room for its successor while both are
 * there; `others` are all processes but gateways and proxies of databases, with room for a session of the operator.
 */
export const PLACES = { gateway: 52, proxy: 8, others: 80 } as const

export type RunningState = {
  readonly state: State
  /** The state's address for other processes. */
  readonly address: StateAddress
  close(): Promise<void>
}

type Deps = {
  config: Config
  data: DataFolder
  cells: Cells
  log: Logger
  report: Reporter
  signal: AbortSignal
  /** The areas of the state, in the order of their foreign keys. */
  schemas: readonly Schema[]
  /** Another node has taken the state. */
  lost: (error: unknown) => void
}

/** Throws `state_in_use`, and `database_unusable` when the state of DATABASE_URL cannot be reached or written. */
export async function startState(deps: Deps): Promise<RunningState> {
  const url = deps.config.databaseUrl
  if (url === undefined) return await openState(deps, await startCell(deps))
  const address = addressOfUrl(url)
  return await openState(deps, address).catch((error: unknown) => {
    throw deps.signal.aborted ? error : unusable(address.url, error)
  })
}

async function openState(deps: Deps, address: StateAddress): Promise<RunningState> {
  const { data, log, report, signal, lost } = deps
  await using opened = new AsyncDisposableStack()
  const state = opened.use(connectState({ address, connections: CONNECTIONS, log }))
  await demandVersion(state)
  await demandSameState(state, data)
  const { path: folder } = data
  const lock = opened.use(
    await lockState({ address, folder, log, step: report.step, signal, lost }),
  )
  const { applied, isNew } = await migrateState(deps, state, address)
  await rememberState(state, data)
  await lock.claim()
  await alarmUnsafeSettings(state)
  const names = isNew ? 'a new one' : applied.join(', ')
  report.step(applied.length === 0 ? 'state is up to date' : `state migrated: ${names}`)
  const all = opened.move()
  return { state, address, close: () => all.disposeAsync() }
}

/** On a connection without limits of time: an index over a large table takes minutes. A stop ends it. */
async function migrateState(
  { schemas, log, report, signal }: Deps,
  state: State,
  address: StateAddress,
): Promise<{ applied: string[]; isNew: boolean }> {
  await using patient = connectState({ address, connections: 1, log, unhurried: true })
  const { rows } = await patient.query<{ pid: number }>('select pg_backend_pid() as pid')
  // By the server, which else would go on without us.
  const cancel = () =>
    void state.query('select pg_cancel_backend($1)', [rows[0]?.pid]).catch(() => undefined)
  signal.addEventListener('abort', cancel)
  try {
    return await migrate(patient, schemas, (name, isNew) => {
      signal.throwIfAborted()
      // An empty state takes milliseconds.
      if (!isNew) report.step(`state is being migrated: ${name}`)
    })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

async function startCell({
  config,
  data,
  cells,
  log,
  report,
  ...deps
}: Deps): Promise<StateAddress> {
  const artifacts = createArtifacts({
    folder: data.at('artifacts'),
    environment: toolEnvironment(),
    ...(config.artifacts === undefined ? {} : { offlineFolder: config.artifacts }),
    log,
    progress: (progress) => report.progress('pgvector-16', progress),
  })
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(INSTALL_TIMEOUT_MS)])
  const install = await installPostgres({
    folder: data.at(POSTGRES_FOLDER),
    ...(config.pgBin === undefined ? {} : { ownBinFolder: config.pgBin }),
    upgrade: config.pgUpgrade,
    artifacts,
    log,
    signal,
  })
  report.step(
    `PostgreSQL ${install.version} (${install.rung}${install.vector ? ', with vector' : ', without vector'})`,
  )
  const folder = data.at('state')
  await initialiseCluster({
    install,
    folder,
    superuserPassword: new Secret(data.secrets.postgres),
    signal,
  })
  const socketFolder = join(data.runFolder, STATE_SOCKETS, NAME)
  const cell = await cells.start(
    postgresCell({
      install,
      name: NAME,
      folder,
      socketFolder,
      socketGroup: STATE_SOCKETS,
      payer: { kind: 'operator' },
      settings: {
        max_connections: String(placesOf(config)),
      },
    }),
  )
  await cell.ready(AbortSignal.any([deps.signal, AbortSignal.timeout(READY_TIMEOUT_MS)]))
  return {
    host: socketFolder,
    user: 'postgres',
    password: data.secrets.postgres,
    database: 'postgres',
  }
}

const placesOf = ({ gateways, pgProxies }: Config): number =>
  PLACES.gateway * gateways + PLACES.proxy * pgProxies + PLACES.others

async function demandVersion(state: Queryable): Promise<void> {
  const { rows } = await state.query<{ major: number }>(
    "select current_setting('server_version_num')::int / 10000 as major",
  )
  if (rows[0]?.major !== SERVER_VERSION_NUM)
    throw fault(
      'postgres_version',
      `Could not use the database: it is PostgreSQL ${rows[0]?.major}, 16 is needed`,
    )
}
