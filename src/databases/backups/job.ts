// A backup or a restore that a row asks for.
import type { Clock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import type { State } from '#state/connect.ts'
import type { SealedBlobs } from './sealed-blobs.ts'

/** A backup, the copy of a restore and its recovery may take so long each. */
export const JOB_MS_MAX = 24 * 3_600_000

export type JobDeps = {
  readonly state: State
  readonly blobs: SealedBlobs
  readonly clock: Clock
  readonly log: Logger
  /** Charges the CPU of work to an account. */
  readonly charged: (job: Charged, work: ChargedWork, signal: AbortSignal) => Promise<void>
  /** The agent, which keeps servers running. */
  readonly agent: AgentSocket
  readonly superuserPassword: string
  /** Where restored clusters wait for the agent. */
  readonly restoredFolder: string
}

/** The payer of work, and the id of the database on the receipt. */
export type Charged = { readonly account: string; readonly resource: string }
export type ChargedWork = (mark: () => void, signal: AbortSignal) => Promise<void>

export type JobKind = 'backup' | 'restore'

export type BackupJob = Charged & {
  readonly kind: JobKind
  /** The id of the backup, or of the new database. */
  readonly id: string
  readonly database: string
  readonly attempts: number
}

/** `mark` charges the CPU since the mark before. */
export type WorkDeps = JobDeps & { readonly mark: () => void }
