// A backup or a restore that a row asks for, and the parts that its process works with.
import type { Clock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import type { State } from '#state/connect.ts'
import type { JobFailure } from './job-failure.ts'
import type { SealedBlobs } from './sealed-blobs.ts'

/** A backup and the copy of a restore may take so long each. */
export const JOB_MS_MAX = 24 * 3_600_000

export type JobKind = 'backup' | 'restore'

export type BackupJob = {
  readonly kind: JobKind
  /** The id of the backup, or of the new database. */
  readonly id: string
  /** The database that is copied. */
  readonly database: string
}

/** A job whose turn has come. */
export type DueJob = BackupJob & {
  readonly account: string
  /** The database that is charged, and its name: a restore is charged to the new one. */
  readonly payer: string
  readonly name: string
}

export type WorkDeps = {
  readonly state: State
  readonly blobs: SealedBlobs
  readonly clock: Clock
  readonly log: Logger
  /** The agent, which keeps servers running. */
  readonly agent: AgentSocket
  readonly superuserPassword: string
  /** Where restored clusters wait for the agent. */
  readonly restoredFolder: string
  /** The lock under which room of the disk is reserved. */
  readonly roomLock: string
}

/** The page of the process: how its job has ended, once it has. */
export const JOB_PAGE = '/job'
export type JobPage = { readonly end?: JobEnd }
export type JobEnd = { readonly failure?: JobFailure }
