// Databases in the agent: their servers, the proxy, and the reconciler that makes and removes them.
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { Secret } from '#base/log.ts'
import { tenantRoomOf } from '#base/tenant-room.ts'
import { nj } from '#base/units.ts'
import type { Cell } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { POSTGRES_FOLDER } from '#contract/databases/client-tools.ts'
import { FIRST_PROXY_FOLDER } from '#contract/databases/database-socket.ts'
import { fault } from '#contract/errors.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { reachableAt } from '#node/own-addresses.ts'
import { removals } from '#node/removals.ts'
import { databaseHost } from '#node/report.ts'
import { installPostgres, type PostgresInstall } from '#postgres/install.ts'
import { lateAfterMs } from './backups/log-stream.ts'
import { BACKUPS, BACKUPS_CELL, backupStores, restoredFolderOf } from './backups/backups-cell.ts'
import { BACKUP_JOB, createJobCells, type JobCells } from './backups/job-cells.ts'
import { followJobs } from './backups/jobs.ts'
import type { CertificateFiles } from '#node/certificate-pair.ts'
import { createServedCertificate } from './certificate/served.ts'
import {
  agentSocketOf,
  createFrontCell,
  frontParts,
  PROXY,
  PROXY_CELLS,
  proxyNames,
} from './front-cell.ts'
import { createAwakeServer, type AwakeServer } from './agent-socket/awake-server.ts'
import { energyWords } from './agent-socket/energy-words.ts'
import { lookInside } from './server/look-inside.ts'
import { onceDone } from '#base/once-done.ts'
import { reconcileDatabases, removalWithoutServer } from './reconcile-databases.ts'
import type { GatewaySettings } from './settings.ts'
import type { DatabasesTaskSettings } from './tasks.ts'
import { passwordKeyOf, superuserPasswordOf } from './logins/passwords.ts'
import { CELL_PREFIX, cellNameOf, databaseOfCell } from './server/cell-name.ts'
import {
  createServers,
  type RunningServer,
  type Servers,
  type ServersDeps,
} from './server/servers.ts'
import { holdPort } from './held-port.ts'
import { keepSize, type SizeDeps } from './size/keep-size.ts'
import { createStoredReader, type StoredReader } from './size/stored.ts'
import { untilWritten } from './size/until-written.ts'
import { tellFailing } from './server/tell-failing.ts'
import { keepStatements } from './server/statements.ts'
import { createNewestFiles } from './server/newest-files.ts'
import { hasCopy, lostDatabases, missingFiles } from './server/make-cluster.ts'
import { lostDatabaseHandlers } from './control/lost-databases.ts'
import { createWatch, type DatabaseWatch } from './server/watch.ts'
import { endOpenIntervals } from '#resources/intervals.ts'

const INSTALL_TIMEOUT_MS = 600_000
/** A shutdown checkpoint takes 0.1 to 0.3 J. */
const STOP_NJ = nj(500_000_000n)

export const DATABASES_AGENT: AgentProduct = {
  name: 'databases',
  programs: [PROXY, BACKUPS, BACKUP_JOB],
  // That of the process of backups is of an earlier version.
  journals: (config) => [...proxyNames(config), BACKUPS_CELL],
  addresses({ config, data: { pgPort: port } }) {
    const host = databaseHost(config)
    const listens = reachableAt({ host: config.host, port })
    return host === null ? [] : [{ names: [host], port, listens }]
  },
  open,
}

async function open(core: AgentCore, starting: AbortSignal): Promise<AgentPart> {
  const { config } = core
  const host = databaseHost(config) ?? 'localhost'
  const part = partOf(core, host)
  await endOpenIntervals(core, 'database')
  if (!config.databases) return { ...part, ...removalsAlone(core) }
  const ending = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  const awake = createAwakeServer({ ...core, proxies: config.pgProxies })
  const watch = createWatch({ ...core, warnings: awake.warnings })
  const read = createStoredReader()
  const beside = async (server: RunningServer, signal: AbortSignal) => {
    await watch.ask(server.id).catch(() => undefined)
    const size = sizeDepsOf(core, { server, read, watch, awake })
    const statements = { ...core, database: server, connect: server.connect }
    await Promise.all([
      keepSize(size, signal),
      lookInside(core, server, signal),
      keepStatements(statements, signal),
    ])
  }
  /** The names of the databases whose servers run, by id. */
  const names = new Map<string, string>()
  const failing: ServersDeps['failing'] = (database, why) =>
    tellFailing({ ...core, awake, stop: (id) => servers.stop(id, 'failed') }, database, why)
  const servers = serversOf(core, {
    beside,
    changed({ id, name }, isRunning) {
      if (isRunning) names.set(id, name)
      else names.delete(id)
      awake.running.tell(id, isRunning)
    },
    failing,
  })
  const certificate = certificateOf(core, host)
  const port = await holdPort({ host: config.host, port: core.data.pgPort })
  const own = { agent: agentSocketOf(core), blobs: onceDone(() => backupStores(core)) }
  const front = createFrontCell(frontParts(core, awake, { ...own, certificate, servers, port }))
  const jobs = createJobCells(core, own)
  endUnpaid(core, { servers, awake, jobs, nameOf: (id) => names.get(id) ?? id })
  // The ready line names the endpoint: the owner of a database can connect from then on.
  const { rows } = await core.state.query(
    "select from resources where kind = 'database' and desired <> 'deleted' limit 1",
  )
  if (rows.length > 0) await front.ready(starting)
  return {
    ...part,
    cells: [
      { stage: 'workers', name: PROXY_CELLS },
      { stage: 'signers', name: CELL_PREFIX },
    ],
    async start() {
      const { signal } = ending
      running = Promise.all([
        tellLost(core, failing),
        reconcileDatabases(core, { front, awake, servers }, signal),
        watch.run(servers, signal),
        certificate.watch(signal),
        followJobs({ ...core, cells: jobs, restoredFolder: restoredFolderOf(core) }, signal),
      ]).catch((error: unknown) => core.log.error('Databases are not kept', { error }))
    },
    async close() {
      ending.abort()
      servers.close()
      await running
      await Promise.all([awake.close(), port.release()])
    },
  }
}

/** The part of a node that runs no databases: deletions end, without a server for the last part of the log. */
function removalsAlone(core: AgentCore): Pick<AgentPart, 'start' | 'close'> {
  const nothing = async () => undefined
  const servers = serversOf(core, { beside: nothing, changed: () => undefined, failing: nothing })
  const part = removals(core, 'database', removalWithoutServer(core, servers))
  return {
    ...part,
    async close() {
      servers.close()
      await part.close()
    },
  }
}

/** At once: its owner and the operator would hear of a lost disk with the next connection. Never rejects. */
async function tellLost(core: AgentCore, failing: ServersDeps['failing']): Promise<void> {
  const folder = clustersOf(core)
  const tell = async () => {
    for (const database of await lostDatabases(core.state, folder))
      // The operator has heard of those that are being restored.
      if (!database.isRestoring)
        await failing(
          database,
          missingFiles(join(folder, database.id), await hasCopy(core.state, database.id)),
        )
  }
  await tell().catch((error: unknown) => core.log.error('Lost databases are not told', { error }))
}

const clustersOf = ({ data }: Pick<AgentCore, 'data'>): string => data.at('databases')

const certificateOf = ({ config, data, state, log }: AgentCore, host: string) =>
  createServedCertificate({
    folder: data.at('databases', 'tls'),
    host,
    own: ownCertificate(config),
    state,
    log,
  })

/** Servers whose energy cannot be paid end with words for their sessions. */
function endUnpaid(
  { accountCells }: AgentCore,
  {
    servers,
    awake,
    jobs,
    nameOf,
  }: {
    readonly servers: Servers
    readonly awake: Pick<AwakeServer, 'cut' | 'refuse'>
    readonly jobs: JobCells
    readonly nameOf: (id: string) => string
  },
): void {
  const idOf = ({ spec }: Cell) => databaseOfCell(spec.name)
  const isServer = (cell: Cell) => cell.spec.name === cellNameOf(idOf(cell))
  accountCells.onUnpaid(CELL_PREFIX, {
    stopNj: STOP_NJ,
    async tell(cell, why) {
      if (!isServer(cell)) return
      const id = idOf(cell)
      const words = energyWords(why, nameOf(id))
      if (words === undefined) return
      awake.refuse(id, words)
      await awake.cut(id, words)
    },
    async stop(cell, why) {
      if (!isServer(cell)) return await jobs.endUnpaid(cell, why)
      const cause = why.code === 'budget_exhausted' ? 'budget' : 'balance'
      // The next start is refused in any case: a refusal that stays would outlast new funds.
      await servers.stop(idOf(cell), cause, why).finally(() => awake.refuse(idOf(cell), undefined))
    },
  })
}

/** Throws settings_invalid for one file without the other. */
function ownCertificate(config: Config): CertificateFiles | undefined {
  const [cert, key] = [config.dbTlsCert, config.dbTlsKey]
  if (cert !== undefined && key !== undefined) return { cert, key }
  if (cert === undefined && key === undefined) return undefined
  throw fault(
    'settings_invalid',
    'Could not use one of ERGON_DB_TLS_CERT and ERGON_DB_TLS_KEY alone: set both, or none',
  )
}

/** Settings for the gateways and the process of tasks, and the operator's operations. */
const partOf = (core: AgentCore, host: string) => {
  const { config, data } = core
  const backupDayMs = config.storageDayS * 1000
  const backupsKeptMs = config.dbBackupDays * backupDayMs
  const gateway: GatewaySettings = {
    isOn: config.databases,
    passwordKey: passwordKeyOf(data.secrets.state),
    region: config.region,
    host,
    port: data.pgPort,
    socketFolder: join(data.runFolder, FIRST_PROXY_FOLDER),
    backupsKeptMs,
  }
  // The prices are those of buckets: a stored byte has one price.
  const tasks: DatabasesTaskSettings = {
    minuteMs: config.storageMinuteS * 1000,
    retentionDays: config.retentionDays,
    backupDayMs,
    backupsKeptMs,
    logLateMs: lateAfterMs(config.dbArchiveSeconds * 1000),
    power: { milliwattsPerTb: config.storageMilliwattsPerTb, pueMilli: Number(config.pueMilli) },
  }
  const control = lostDatabaseHandlers({ ...core, folder: clustersOf(core) })
  return {
    gateway: { settings: gateway, calls: [PROXY_CELLS] },
    tasks: { settings: tasks },
    control,
  }
}

const serversOf = (
  core: AgentCore,
  listeners: Pick<ServersDeps, 'beside' | 'changed' | 'failing'>,
): Servers =>
  createServers({
    ...listeners,
    cells: core.cells,
    state: core.state,
    log: core.log,
    install: onceDone(() => install(core)),
    folder: clustersOf(core),
    runFolder: core.data.runFolder,
    superuserPassword: new Secret(superuserPasswordOf(core.data.secrets.state)),
    admit: core.accountCells.admit,
    demandNewest: createNewestFiles(core.state),
    idleMs: core.config.dbIdleSeconds * 1000,
    proxies: core.config.pgProxies,
  })

const sizeDepsOf = (
  { state, log }: AgentCore,
  {
    server,
    read,
    watch,
    awake,
  }: {
    readonly server: RunningServer
    readonly read: StoredReader
    readonly watch: DatabaseWatch
    readonly awake: Pick<AwakeServer, 'cut' | 'warnings'>
  },
): SizeDeps => ({
  folder: server.folder,
  name: server.name,
  log,
  read,
  untilWritten,
  connect: server.connect,
  sizeBytes: () => watch.sizeOf(server.id),
  spaceBytes: () => tenantRoomOf(statfsSync(server.folder)),
  slow: server.slow,
  hold: server.hold,
  cut: (fatal, pids) => void awake.cut(server.id, fatal, pids),
  async found({ bytes, walBytes }, full) {
    awake.warnings.set(server.id, 'size', full)
    await state.query(
      'update databases set stored_bytes = $2, wal_bytes = $3, is_full = $4 where id = $1',
      [server.id, bytes, walBytes, full !== undefined],
    )
  },
})

const install = ({ config, data, artifacts, log }: AgentCore): Promise<PostgresInstall> =>
  installPostgres({
    folder: data.at(POSTGRES_FOLDER),
    ...(config.pgBin === undefined ? {} : { ownBinFolder: config.pgBin }),
    artifacts,
    log,
    signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS),
  })
