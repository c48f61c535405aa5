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
const UNKNOWN = 'the service could not do it now'

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
    return { reason, isUnpaid: isUnpaid(cause), mayPass: error instanceof PassingFault }
  }
  if (!(error instanceof ErgonError)) return { reason: UNKNOWN, isUnpaid: false, mayPass: true }
  const { message: reason, status, code } = error
  return { reason, isUnpaid: false, mayPass: status >= INTERNAL && !LASTING.has(code) }
}

const isUnpaid = (error: unknown): boolean =>
  error instanceof NotAwake && error.fatal.code === UNPAID_STATE
