// A real PostgreSQL for tests of any folder: installed once for all runs, a cluster for each test,
// started without the launcher, as a user of its own where the tests are root.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type CommandResult, runTool } from '#artifacts/command.ts'
import { type Artifacts, createArtifacts } from '#artifacts/fetch.ts'
import { sleep } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import { Secret, createLogger } from '#base/log.ts'

import { SUPERUSER, initialiseCluster } from './cluster.ts'
import type { FileOwner } from './copy-cluster.ts'
import { postgresFault } from './faults.ts'
import { type PostgresInstall, installPostgres } from './install.ts'
import { postgresCell } from './postgres-cell.ts'
import { makeTestFolder, testPlace } from './testing-place.ts'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const CACHE = join(ROOT, '.cache')
const FIRST_UID = 1_900_000_000
const READY_MAX_MS = 60_000
const FETCH_MAX_MS = 600_000
/** The password of the superuser, in every cluster of a test. */
export const PASSWORD = 'not a secret: of a test'

export const quiet = createLogger('test', { level: 'error' })

/** Artifacts in the repository's cache, so that runs after the first one download nothing. */
export const cachedArtifacts = (): Artifacts =>
  createArtifacts({ folder: join(CACHE, 'artifacts'), log: quiet })

/** The managed installation in the repository's cache. */
export const cachedInstall = (): Promise<PostgresInstall> =>
  installPostgres({
    folder: join(CACHE, 'postgres'),
    artifacts: cachedArtifacts(),
    log: quiet,
    signal: AbortSignal.timeout(FETCH_MAX_MS),
    // The cache outlives changes of how a tree is put together.
    upgrade: true,
  })

/**
 * A new cluster in a folder that is absent: a copy of one in the repository's cache, made by initdb once
 * (2 s of CPU), with the test's password. Its owner is the caller.
 */
export async function copyCachedCluster(
  install: PostgresInstall,
  folder: string,
  walSegmentMb: number,
): Promise<void> {
  const cached = join(CACHE, `cluster-${install.version}-${walSegmentMb}`)
  const signal = AbortSignal.timeout(READY_MAX_MS)
  await initialiseCluster({
    install,
    folder: cached,
    superuserPassword: new Secret(PASSWORD),
    walSegmentMb,
    signal,
  })
  const argv = ['cp', '-R', '-p', '--reflink=auto', '--', cached, folder] as const
  const { code, stderr } = await runTool(argv, { signal, timeoutMs: READY_MAX_MS })
  if (code !== 0)
    throw postgresFault('postgres_not_initialised', `Could not copy a cluster: ${stderr}`)
}

/** Why a server cannot be started here by spawn alone; to skip with. */
export function whyNoServer(): string | false {
  if (process.geteuid?.() !== 0) return false
  for (let folder = CACHE; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0)
      return `tests are root and other users may not enter ${folder}`
  return false
}

export type TestServer = AsyncDisposable & {
  readonly install: PostgresInstall
  /** The cluster's folder. */
  readonly folder: string
  readonly socketFolder: string
  readonly socketPath: string
  /** User of the server; absent for the current user. */
  readonly owner?: FileOwner
  /** The cell's command line. */
  readonly argv: readonly string[]
  /** Starts a command as the server's user. */
  spawn(argv: readonly string[]): ChildProcess
  readonly superuser: { readonly user: string; readonly password: string }
  /** The first process of the server, which the launcher of the product would signal. */
  readonly child: ChildProcess
  /** Runs psql to its end; code 3 is an SQL error. */
  psql(
    sql: string,
    as?: { user?: string; password?: string; database?: string },
  ): Promise<CommandResult>
  /** Waits until the server answers. */
  ready(): Promise<void>
  /** Stops it; its files stay until it is disposed of. */
  stop(): Promise<void>
  /** Starts it again after it has ended. */
  restart(): void
}

/**
 * A new cluster and its server, ready, in a folder of its own below `place`: without fsync in memory, where there is
 * room, else on the disk. Dispose of it to stop the server and remove the files.
 */
export async function startTestServer(
  install: PostgresInstall,
  settings: Readonly<Record<string, string>> = {},
  { place = testPlace(settings), walSegmentMb = 1 }: { place?: string; walSegmentMb?: number } = {},
): Promise<TestServer> {
  const root = makeTestFolder(place)
  const owner = process.geteuid?.() === 0 ? uidsOf(process.pid) : undefined
  const socketFolder = join(root, 's')
  mkdirSync(socketFolder, { mode: 0o755 })
  chmodSync(root, 0o755)
  if (owner !== undefined) chownSync(socketFolder, owner.uid, owner.gid)
  const folder = join(root, 'cluster')
  await copyCachedCluster(install, folder, walSegmentMb)
  if (owner !== undefined)
    execFileSync('chown', ['-RhP', '--', `${owner.uid}:${owner.gid}`, folder], { stdio: 'pipe' })
  const spec = postgresCell({
    install,
    name: 'test',
    folder,
    socketFolder,
    socketGroup: 'test',
    payer: { kind: 'operator' },
    settings: { shared_buffers: '16MB', max_wal_size: '16MB', min_wal_size: '2MB', ...settings },
  })
  const socketPath = join(socketFolder, spec.socket)
  const start = ([program = '', ...args]: readonly string[]) =>
    spawn(program, args, { env: spec.environment, stdio: 'ignore', cwd: '/', ...owner })
  // A cell never runs without; of two on the command line the last one holds.
  const argv = settings['fsync'] === 'off' ? [...spec.argv, '-c', 'fsync=off'] : spec.argv
  let child = start(argv)

  const server: TestServer = {
    install,
    folder,
    socketFolder,
    socketPath,
    ...(owner !== undefined && { owner }),
    argv,
    spawn: start,
    superuser: { user: SUPERUSER, password: PASSWORD },
    get child() {
      return child
    },
    restart: () => {
      child = start(argv)
    },
    ready: () => answers(() => spec.ready.probe(socketPath, AbortSignal.timeout(READY_MAX_MS))),
    psql: (sql, { user = SUPERUSER, password = PASSWORD, database = 'postgres' } = {}) =>
      psql(install, { socketFolder, user, password, database, sql }),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(spec.stop.signal)
      await ended
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      await rm(root, { recursive: true, force: true })
    },
  }
  await server.ready()
  return server
}

/** A uid that no other test process uses, without an entry in /etc/passwd. */
const uidsOf = (pid: number) => ({ uid: FIRST_UID + pid, gid: FIRST_UID + pid })

async function answers(probe: () => Promise<void>): Promise<void> {
  const last = performance.now() + READY_MAX_MS
  for (;;) {
    try {
      return await probe()
    } catch (error) {
      if (performance.now() > last) throw error
      await sleep(20)
    }
  }
}

type PsqlQuery = {
  readonly socketFolder: string
  readonly user: string
  readonly password: string
  readonly database: string
  readonly sql: string
}

function psql(install: PostgresInstall, query: PsqlQuery): Promise<CommandResult> {
  const program = join(present(install.clientTools, 'the managed rung has client tools'), 'psql')
  const flags = '--no-psqlrc --no-align --tuples-only --quiet --set=ON_ERROR_STOP=1'.split(' ')
  const where = [
    `--host=${query.socketFolder}`,
    `--username=${query.user}`,
    `--dbname=${query.database}`,
  ]
  return runTool([program, ...flags, ...where, '--command', query.sql], {
    signal: AbortSignal.timeout(READY_MAX_MS),
    timeoutMs: READY_MAX_MS,
    environment: { PATH: '/usr/bin:/bin', PGPASSWORD: query.password },
  })
}
