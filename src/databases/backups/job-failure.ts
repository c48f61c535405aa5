// Why a backup or a restore failed, in words for its account: paths and names of the node stay in its log.
import { ErgonError } from '#base/errors.ts'
import { NotAwake, SOON } from '#databases/agent-socket/awake.ts'
import { fatalText } from '#databases/agent-socket/energy-words.ts'
import { BackupFault, PassingFault } from './plan.ts'

export type JobFailure = {
  readonly reason: string
  readonly isUnpaid: boolean
  /** A fault of the service, which may pass: the job is tried again. */
  readonly mayPass: boolean
}

/** The end of a job that failed. */
export class JobFault extends Error {
  readonly failure: JobFailure
  constructor(failure: JobFailure) {
    super(failure.reason)
    this.failure = failure
  }
}

/** The SQLSTATE of a server that is not paid. */
const UNPAID_STATE = '53400'
const INTERNAL = 500
/** Bytes that are gone or wrong are so at the next try. */
const LASTING: ReadonlySet<string> = new Set(['blob_missing', 'blob_damaged'])
/** PostgreSQL's class of its own faults, such as a page with a wrong checksum: each try would cost a whole copy. */
const DAMAGE_CLASS = 'XX'
const UNKNOWN = 'the service could not do it now'
const DAMAGED = 'the files of the database are damaged'

export function jobFailure(error: unknown): JobFailure {
  if (error instanceof JobFault) return error.failure
  if (error instanceof NotAwake) {
    const { fatal } = error
    const mayPass = fatal.hint === SOON
    const reason = mayPass ? fatal.message : fatalText(fatal)
    return { reason, isUnpaid: isUnpaid(error), mayPass }
  }
  if (error instanceof BackupFault) {
    const { message: reason, cause } = error
    // Why the source of a restore is not awake, or has not stored its log.
    const source =
      cause instanceof NotAwake || cause instanceof BackupFault ? jobFailure(cause) : undefined
    const mayPass = error instanceof PassingFault || source?.mayPass === true
    return { reason, isUnpaid: source?.isUnpaid === true, mayPass }
  }
  if (isDamage(error)) return { reason: DAMAGED, isUnpaid: false, mayPass: false }
  if (!(error instanceof ErgonError)) return { reason: UNKNOWN, isUnpaid: false, mayPass: true }
  const { message: reason, status, code } = error
  return { reason, isUnpaid: false, mayPass: status >= INTERNAL && !LASTING.has(code) }
}

const isDamage = (error: unknown): boolean =>
  String((error as { readonly code?: unknown } | undefined)?.code).startsWith(DAMAGE_CLASS)

const isUnpaid = (error: unknown): boolean =>
  error instanceof NotAwake && error.fatal.code === UNPAID_STATE
