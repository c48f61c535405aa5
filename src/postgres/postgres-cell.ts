// A PostgreSQL server as a cell: its command line, how it shows that it answers, how it is stopped.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { CellSpec } from '#cells/cell.ts'

import { postgresFault } from './faults.ts'
import type { PostgresInstall } from './install.ts'
import { probeServer } from './probe.ts'
import { recoveryProgress } from './recovery-progress.ts'
import { settingsFor } from './settings.ts'

export type PostgresCellOptions = {
  readonly install: Pick<PostgresInstall, 'binFolder' | 'reads'>
  readonly name: string
  /** The folder that initialiseCluster made. */
  readonly folder: string
  /** The folder of the cell's socket, as the launcher makes it: `<run folder>/<group>/<name>`. */
  readonly socketFolder: string
  readonly socketGroup: string
  readonly payer: CellSpec['payer']
  readonly limits?: CellSpec['limits']
  /** Settings of postgresql.conf that differ from those of settings.ts. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * The server is ended where it does not answer within this time, and its recovery makes no step; that is 2 minutes by default.
   */
  readonly readyMaxMs?: number | undefined
  /** Its first server: the cluster is restored, and no server has answered on it yet. */
  readonly recovers?: boolean | undefined
}

/** The port is only a part of the socket's name: there is no TCP. */
const SOCKET = '.s.PGSQL.5432'
// Crash recovery of 256 MB of WAL took 8 s once on a machine at load 14; it does not answer meanwhile.
const READY_MAX_MS = 120_000
// PostgreSQL is the last to stop, within the 25 s that all have.
const STOP_GRACE_MS = 20_000
const LOCK_WAIT_S = 10

// The holder of the lock removes the files of a killed server. Its pid file may name a number that is in use
// again, since a new pid namespace starts all numbers anew; the server would then refuse to start.
const START = 'rm -f -- "$1" "$2" "$2.lock" && shift 2 && exec "$@"'

/**
 * PostgreSQL removes recovery.signal and writes the history of a new timeline before the checkpoint that ends a recovery.
 * A start behind a kill in between would go on in the log of the source, so the cluster is recovered anew from its last
 * restartpoint. From the begin of a recovery to that checkpoint, and at no other time, pg_control has a least position to
 * reach (ControlFileData.minRecoveryPoint: eight bytes of PostgreSQL 16). A restored cluster has no other history. The
 * unfinished segment stays: it is not in the history of the source, and the next end writes it anew.
 */
const RECOVER = `data="\${1%/*}" && least=$(od -An -td8 -j136 -N8 -- "$data/global/pg_control") &&
  { [ $least -eq 0 ] || { rm -f -- "$data"/pg_wal/*.history && : >"$data/recovery.signal"; }; } && `
/** Else a server whose checkpointer is killed begins again by itself, without the script. */
const RECOVERY_SETTINGS = { restart_after_crash: 'off' }

/**
 * The spec of a server on a cluster. Two servers never run on one cluster: flock(1) becomes the server,
 * and every backend inherits its open lock. So the kernel holds the lock while any process of an earlier
 * life exists, in any pid namespace. A start waits 10 s for it.
 */
export function postgresCell(options: PostgresCellOptions): CellSpec {
  const { install, folder, socketFolder } = options
  const data = join(folder, 'data')
  const { recovers = false } = options
  const own = { ...options.settings, ...(recovers && RECOVERY_SETTINGS) }
  const settings = settingsFor(options.name, socketFolder, own)
  const lock = ['--exclusive', '--wait', String(LOCK_WAIT_S), '--no-fork', join(folder, 'lock')]
  const script = recovers ? RECOVER + START : START
  const start = ['-c', script, 'start', join(data, 'postmaster.pid'), join(socketFolder, SOCKET)]
  const server = [join(install.binFolder, 'postgres'), '-D', data]
  return {
    name: options.name,
    argv: [
      toolPath('flock'),
      ...lock,
      toolPath('sh'),
      ...start,
      ...server,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    environment: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    config: {},
    reads: install.reads,
    writes: [folder],
    socketGroup: options.socketGroup,
    calls: [],
    limits: options.limits ?? {},
    ready: {
      probe: probeServer,
      timeoutMs: options.readyMaxMs ?? READY_MAX_MS,
      progress: recoveryProgress,
    },
    socket: SOCKET,
    // SIGINT is PostgreSQL's fast shutdown: sessions end, a checkpoint is written.
    stop: { signal: 'SIGINT', graceMs: STOP_GRACE_MS },
    restart: { delaysMs: [100, 500, 2000, 10_000, 30_000], steadyMs: 60_000 },
    payer: options.payer,
  }
}

function toolPath(tool: string): string {
  const path = ['/usr/bin', '/bin'].map((each) => join(each, tool)).find((each) => existsSync(each))
  if (path !== undefined) return path
  throw postgresFault(
    'postgres_missing',
    `Install util-linux, PostgreSQL is started through: ${tool}`,
  )
}
