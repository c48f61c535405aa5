// A backup or a restore as a cell that its account pays. All CPU of its processes is on one bill, that of threads and of
// tar too, and no work of another account is in them.
import { sleep } from '#base/clock.ts'
import type { ErgonError } from '#base/errors.ts'
import type { BlobSettings } from '#blobs/stores.ts'
import type { Cell } from '#cells/cell.ts'
import { AGENT_SOCKETS } from '#databases/agent-socket/awake.ts'
import { superuserPasswordOf } from '#databases/logins/passwords.ts'
import type { BackupJobConfig } from '#databases/programs/backup-job.ts'
import { workCellOf } from '#databases/server/cell-name.ts'
import { DATABASE_SOCKETS } from '#databases/server/servers.ts'
import type { AgentCore } from '#node/agent-part.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { ask, programCell, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { roomLock, roomLockFolder } from '#node/room-lock.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { restoredFolderOf } from './backups-cell.ts'
import { JOB_PAGE, type DueJob, type JobPage } from './job.ts'
import { JobFault } from './job-failure.ts'

export const BACKUP_JOB: Program = {
  file: 'databases/programs/backup-job.ts',
  flags: [ONE_COLLECTOR],
}

export interface JobCells {
  /** Does a job. Throws why the account cannot pay, a JobFault, or the signal's reason. */
  run(job: DueJob, signal: AbortSignal): Promise<void>
  /** Ends the job of a cell: its account cannot pay any more. */
  endUnpaid(cell: Cell, why: ErgonError): Promise<void>
}

const SOCKETS = 'db-jobs'
const LOOK_MS = 250
/** A job that is ended begins anew, or is given up: there is nothing to wait for. */
const STOP_MS = 2000
/** Of a backup of random bytes 190 MB are used, most of them by Node.js. */
const MEMORY_BYTES = 512_000_000

export function createJobCells(
  core: AgentCore,
  own: { readonly agent: AgentSocket; readonly blobs: () => Promise<BlobSettings> },
): JobCells {
  const running = new Map<
    string,
    { readonly ending: AbortController; readonly done: Promise<void> }
  >()
  return {
    run(job, signal) {
      const name = workCellOf(job.payer, job.kind)
      const ending = new AbortController()
      const done = runIn(core, { ...own, name, job }, AbortSignal.any([signal, ending.signal]))
      const ended = done.finally(() => running.delete(name))
      running.set(name, { ending, done: ended })
      return ended
    },
    async endUnpaid({ spec }, why) {
      const job = running.get(spec.name)
      job?.ending.abort(why)
      await job?.done.catch(() => undefined)
    },
  }
}

async function runIn(
  core: AgentCore,
  {
    agent,
    blobs,
    name,
    job,
  }: {
    readonly agent: AgentSocket
    readonly blobs: () => Promise<BlobSettings>
    readonly name: string
    readonly job: DueJob
  },
  signal: AbortSignal,
): Promise<void> {
  const { cells, accountCells, data, place, address } = core
  const { kind, id, database, account } = job
  const stores = await blobs()
  const restoredFolder = restoredFolderOf(core)
  const config: Omit<BackupJobConfig, 'socket' | 'logLevel'> = {
    job: { kind, id, database },
    state: address,
    blobs: stores,
    secret: data.secrets.state,
    agent,
    superuserPassword: superuserPasswordOf(data.secrets.state),
    restoredFolder,
    roomLock: roomLock(place.dataFolder),
  }
  await accountCells.admit(name, account)
  signal.throwIfAborted()
  const cell = await cells.start(
    programCell(BACKUP_JOB, {
      name,
      // It reads and writes the blobs that gateways do.
      user: 'gateway',
      place,
      config,
      socketGroup: SOCKETS,
      reads: [roomLockFolder(place.dataFolder)],
      writes: [stores.folder, restoredFolder],
      calls: [STATE_SOCKETS, DATABASE_SOCKETS, AGENT_SOCKETS],
      limits: { memoryBytes: MEMORY_BYTES },
      payer: { kind: 'account', account },
    }),
  )
  try {
    await cell.ready(AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)]))
    for (;;) {
      // A killed process starts again, and its job begins anew.
      const page = (await ask(cell.socket, JOB_PAGE, signal).catch((error: unknown) => {
        if (signal.aborted || cell.state === 'stopped') throw error
        return undefined
      })) as JobPage | undefined
      const end = page?.end
      if (end?.failure !== undefined) throw new JobFault(end.failure)
      if (end !== undefined) return
      await sleep(LOOK_MS, signal)
    }
  } finally {
    await cell.stop(STOP_MS)
  }
}
