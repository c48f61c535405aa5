// The servers of databases on this node: how a cluster is made, started as a cell, and connected to.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Logger, Secret } from '#base/log.ts'
import { onceDone } from '#base/once-done.ts'
import { unlessAborted } from '#base/unless-aborted.ts'
import type { SleepCause } from '#contract/resources/intervals.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { PostgresInstall } from '#postgres/install.ts'
import { postgresCell } from '#postgres/postgres-cell.ts'
import { createInstances, NotWanted, type Instance } from '#resources/instances.ts'
import type { Waker } from '#resources/intervals.ts'
import type { Resource } from '#resources/resource.ts'
import { connectState, type Queryable, type State } from '#state/connect.ts'
import { holdSessions } from './hold-sessions.ts'
import { JOB_MS_MAX } from '#databases/backups/job.ts'
import { recoverIn, type OwnCell } from '#databases/backups/recover-in.ts'
import { isRecovering } from '#databases/backups/placed.ts'
import { adopt, type Restored } from '#databases/backups/restored.ts'
import { createAlone } from './alone.ts'
import { beginLife } from './begin-life.ts'
import { cellNameOf } from './cell-name.ts'
import { failureBefore, SILENT_MS, watchStart, type StartFailure } from './failing-start.ts'
import { installedIn, type Installed } from './look-inside.ts'
import { hasCopy, hasFiles, makeCluster, missingFiles } from './make-cluster.ts'
import { demandUnmarked } from './newest-files.ts'
import { makeDatabase, type ConnectAs, type DatabaseRoles } from './make-database.ts'
import { KEPT_MAX } from '#databases/proxy/backends.ts'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import { ownerAddress, superuserAddress } from './superuser.ts'
import { STATEMENT_SETTINGS, STATEMENTS_LIBRARY } from './statements.ts'

/** The cells' sockets, which the proxy calls. */
export const DATABASE_SOCKETS = 'databases'

const MEMORY_BYTES_MAX = 1024 ** 3
/** One query that takes more gets an error (53200). Where all together take more, the kernel ends one and PostgreSQL restarts. */
const PROCESS_MEMORY_BYTES_MAX = 768 * 1024 ** 2
const PROCESSES_MAX = 200
const FILES_MAX = 2000
/** Three are reserved by the server; the others are in use for a moment, or are backends on their way to their end. */
const SUPERUSER_CONNECTIONS = 12
/** The settings that differ from those of every server. */
export const DATABASE_SETTINGS = {
  shared_buffers: '32MB',
  max_wal_size: '128MB',
  min_wal_size: '16MB',
  // One for the log and one for copies of the files; another for a connection that is about to go.
  max_wal_senders: '3',
  max_replication_slots: '2',
  wal_level: 'replica',
  // Of the log that cannot be stored. With more the disk of the node would fill.
  max_slot_wal_keep_size: '2GB',
  // A restored server answers once it is recovered.
  hot_standby: 'off',
  max_worker_processes: '8',
  // Statements of customers, passwords among them, stay out of the node's log.
  log_min_messages: 'fatal',
  log_min_error_statement: 'panic',
  // The most that one session may write to temporary files, as a query that sorts on disk does.
  temp_file_limit: '1GB',
} as const

export type ServersDeps = {
  readonly cells: Cells
  readonly state: Queryable
  readonly log: Logger
  readonly install: () => Promise<PostgresInstall>
  /** Where the clusters are. */
  readonly folder: string
  readonly runFolder: string
  readonly superuserPassword: Secret
  readonly idleMs: number
  /** The number of proxies that keep backends. */
  readonly proxies: number
  /** Holds energy for the cell that is about to start; rejects where the account cannot pay, or a budget is used up. */
  readonly admit: (cell: string, account: string) => Promise<void>
  /** Throws a StartFailure where the files of a server that answers are those of an older copy. */
  readonly demandNewest: (server: RunningServer) => Promise<void>
  /** Work that goes on while the server of a database runs; never rejects. */
  readonly beside: (server: RunningServer, signal: AbortSignal) => Promise<void>
  /** Told of each server that has started, and of each that is about to end. */
  readonly changed: (database: Resource, isRunning: boolean) => void
  /** Told of each server that does not start, or starts no more. Never rejects. */
  readonly failing: (database: Resource, why: StartFailure) => Promise<void>
}

export type RunningServer = Resource & {
  /** The folder of its cluster. */
  readonly folder: string
  /** The programs that it runs. */
  readonly install: PostgresInstall
  /** Opens a connection to a database of the server as its superuser; to that of the superuser by default. */
  readonly connect: (database?: string) => State
  /** At most so many thousandths of a processor, while it fills its room; undefined lifts that. */
  readonly slow: (milli: number | undefined) => void
  /** Stops the sessions of customers where they are, until the disposal. */
  readonly hold: () => Disposable
}

export interface Servers {
  /**
   * Makes a database and its roles; may be repeated. Resolves with what is there then. Throws `database_not_ready` with
   * why its server does not start.
   */
  deploy(database: Resource & DatabaseRoles, signal: AbortSignal): Promise<Installed>
  /**
   * Recovers restored files by a server that nobody else uses, checks them and gives them their new names. Throws a
   * BackupFault, or the signal's reason.
   */
  recover(
    database: Resource & DatabaseRoles,
    restored: Restored,
    signal: AbortSignal,
  ): Promise<void>
  /** Ends the server and removes its files, after `before`. */
  remove(id: string, before?: () => Promise<void>): Promise<void>
  /** Runs a server that nobody can connect to, while work goes on in `remove`. */
  alone<T>(database: Resource, work: () => Promise<T>): Promise<T>
  /** Resolves with the path of the socket of a running server, which runs until the disposal and a while longer. */
  use(
    database: Resource,
    waker: Waker,
    signal: AbortSignal,
  ): Promise<{ socketPath: string; release(): void }>
  /** The databases whose servers run, with their accounts. */
  running(): readonly { readonly id: string; readonly account: string }[]
  /** Ends a server now; the next use starts it. Work that waits for the server, or has it for itself, rejects with `why`. */
  stop(id: string, cause: SleepCause, why?: Error): Promise<void>
  close(): void
}

type Server = Instance & { readonly socketPath: string }

export function createServers(deps: ServersDeps): Servers {
  const closing = new AbortController()
  const alone = createAlone()
  const instances = createInstances<Resource, Server>({
    state: deps.state,
    log: deps.log,
    idleMs: deps.idleMs,
    // A silent start ends by its cell.
    readyMs: JOB_MS_MAX,
    prepare: async (database) => () => startServer(deps, database, closing.signal),
  })
  const use: Servers['use'] = async (database, waker, signal) => {
    signal.throwIfAborted()
    const leaving = new AbortController()
    const leave = () => leaving.abort(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    // A start that has begun goes on where its client is gone: the next one would begin a recovery anew.
    const begun = () => signal.removeEventListener('abort', leave)
    const untilBegun = AbortSignal.any([closing.signal, leaving.signal])
    const using = instances.use(database, waker, untilBegun, begun)
    const { instance, release } = await unlessAborted(using, signal, (used) =>
      used.release(),
    ).finally(begun)
    return { socketPath: instance.socketPath, release }
  }
  return {
    async deploy(database, signal) {
      await reportingFailure(deps, database, () => makeCluster(deps, database, signal))
      const { socketPath, release } = await use(database, { cause: 'change' }, signal)
      try {
        const connect: ConnectAs = (name, role) =>
          connectTo(deps, socketPath, { database: name, role })
        await makeDatabase(connect, database)
        await using own = connectTo(deps, socketPath, { database: database.name })
        return await installedIn(own, await deps.install())
      } finally {
        release()
      }
    },
    use,
    stop: async (id, cause, why) =>
      void (alone.end(id, why) || (await instances.stop(id, cause, why))),
    recover: (database, restored, signal) =>
      instances.without(database.id, () =>
        alone.run(database.id, signal, (own) => recoverFirst(deps, { database, restored }, own)),
      ),
    remove: (id, before) =>
      instances.without(id, async () => {
        await before?.()
        await rm(join(deps.folder, id), { recursive: true, force: true })
        await deps.cells.disown(cellNameOf(id))
      }),
    alone: (database, work) =>
      alone.run(database.id, closing.signal, async (signal) => {
        const server = await startServer(deps, database, closing.signal)
        try {
          await server.ready(signal)
          const done = await work()
          signal.throwIfAborted()
          return done
        } finally {
          await server.end('change')
        }
      }),
    running: () => instances.running(),
    close() {
      instances.close()
      closing.abort()
    },
  }
}

/** Starts a server and the work beside it. */
async function startServer(
  deps: ServersDeps,
  database: Resource,
  closing: AbortSignal,
): Promise<Server> {
  const folder = join(deps.folder, database.id)
  const watch = watchStart(folder)
  const { install, cell } = await reportingFailure(deps, database, async () => {
    if (!hasFiles(folder)) throw missingFiles(folder, await hasCopy(deps.state, database.id))
    await demandUnmarked(deps.state, { id: database.id, folder })
    if (isRecovering(folder)) throw new NotWanted(`Its restore is not done: ${database.id}`)
    const programs = await deps.install()
    const own = { ended: watch.ended }
    return { install: programs, cell: await startCell(deps, { install: programs, database }, own) }
  })
  const failed = reportingFailure(deps, database, () => watch.failed)
  failed.catch(() => undefined)
  const ending = new AbortController()
  const connect = (name?: string) => connectTo(deps, cell.socket, { database: name })
  const slow = (milli: number | undefined) => cell.limitCpu('size', milli)
  const server = { ...database, folder, install, connect, slow, hold: () => holdSessions(cell) }
  const begun = onceDone(async () => {
    await reportingFailure(deps, database, () => deps.demandNewest(server))
    await beginLife(deps.state, database.id)
    // Later: who follows the log knows its life.
    if (!ending.signal.aborted) deps.changed(database, true)
  })
  const beside = deps.beside(server, AbortSignal.any([ending.signal, closing]))
  return {
    socketPath: cell.socket,
    async ready(signal) {
      await Promise.race([cell.ready(signal), failed])
      await begun()
    },
    async end() {
      deps.changed(database, false)
      ending.abort()
      // At once: a query beside a server that hangs ends with the server.
      await Promise.all([beside, cell.stop()])
    },
  }
}

/** Does a part of a start. Reports a failure, and throws it as an error for the account. */
async function reportingFailure<T>(
  deps: ServersDeps,
  database: Resource,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const why = failureBefore(error)
    if (why === undefined) throw error
    await deps.failing(database, why)
    throw why.toFault(database.name)
  }
}

/** Sessions, backends that proxies keep, and those of the superuser: no session that a proxy admits is refused. */
const connectionsMax = (proxies: number): number =>
  SESSIONS_MAX + KEPT_MAX * proxies + SUPERUSER_CONNECTIONS

/** Connects to a database of a server, as the superuser or as the owner of the database. */
function connectTo(
  { superuserPassword, log }: ServersDeps,
  socketPath: string,
  {
    database,
    role,
    ...more
  }: {
    readonly database?: string | undefined
    readonly role?: string | undefined
    readonly unhurried?: true
  } = {},
): State {
  const folder = dirname(socketPath)
  const address =
    role === undefined || database === undefined
      ? superuserAddress(folder, superuserPassword.reveal(), database)
      : ownerAddress(folder, role, database)
  const called = 'the server of a database'
  return connectState({ address, connections: 1, log, called, prepares: true, ...more })
}

async function recoverFirst(
  deps: ServersDeps,
  {
    database,
    restored,
  }: { readonly database: Resource & DatabaseRoles; readonly restored: Restored },
  signal: AbortSignal,
): Promise<void> {
  const install = await deps.install()
  const begin = (own: OwnCell) => startCell(deps, { install, database }, { ...own, recovers: true })
  const tell = (isRecovered: boolean) =>
    deps.state.query('update database_restores set is_recovered = $2 where database = $1', [
      database.id,
      isRecovered,
    ])
  await tell(false)
  const cell = await recoverIn(begin, { log: deps.log, signal })
  try {
    await tell(true)
    await adopt(
      (name) => connectTo(deps, cell.socket, { database: name, unhurried: true }),
      restored,
      database,
    )
  } finally {
    await cell.stop()
  }
}

async function startCell(
  deps: ServersDeps,
  { install, database }: { readonly install: PostgresInstall; readonly database: Resource },
  { settings, recovers, readyMaxMs = SILENT_MS, ...own }: OwnCell = {},
): Promise<Cell> {
  const { id, account } = database
  const name = cellNameOf(id)
  // A PostgreSQL of the machine may be without it, and would not start.
  const isCounting = existsSync(join(install.libFolder, STATEMENTS_LIBRARY))
  const spec = postgresCell({
    install,
    name,
    folder: join(deps.folder, id),
    socketFolder: join(deps.runFolder, DATABASE_SOCKETS, name),
    socketGroup: DATABASE_SOCKETS,
    payer: { kind: 'account', account },
    readyMaxMs,
    recovers,
    settings: {
      ...DATABASE_SETTINGS,
      ...(isCounting && STATEMENT_SETTINGS),
      max_connections: String(connectionsMax(deps.proxies)),
      ...settings,
    },
    limits: {
      memoryBytes: MEMORY_BYTES_MAX,
      processMemoryBytes: PROCESS_MEMORY_BYTES_MAX,
      processes: PROCESSES_MAX,
      files: FILES_MAX,
    },
  })
  await deps.admit(name, account)
  return await deps.cells.start({ ...spec, ...own, network: 'none', syscalls: 'tenant' })
}
