// How fetching an artifact can fail, each with a code of its own, and the one place that turns an
// error of the operating system into such a failure.
import { ErgonError } from '#base/errors.ts'

export const ARTIFACT_FAULTS = {
  unknown: { code: 'artifact_unknown', status: 404 },
  unsupported: { code: 'artifact_unsupported', status: 501 },
  toolMissing: { code: 'artifact_tool_missing', status: 503 },
  unreachable: { code: 'artifact_unreachable', status: 503 },
  mismatch: { code: 'artifact_mismatch', status: 502 },
  full: { code: 'storage_full', status: 507 },
  unwritable: { code: 'artifact_folder_unwritable', status: 503 },
  interrupted: { code: 'artifact_interrupted', status: 503 },
} as const

export type ArtifactFault = keyof typeof ARTIFACT_FAULTS

export const artifactFault = (fault: ArtifactFault, message: string, cause?: unknown): ErgonError =>
  new ErgonError(ARTIFACT_FAULTS[fault], message, { cause })

/** The errno of a system error, as text, or '' when it is none. */
export const errnoOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const BY_ERRNO: Readonly<Record<string, ArtifactFault>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EACCES: 'unwritable',
  EPERM: 'unwritable',
  EROFS: 'unwritable',
  ECONNRESET: 'unreachable',
  ETIMEDOUT: 'unreachable',
  ERR_STREAM_PREMATURE_CLOSE: 'unreachable',
}

/** The error to throw for what `error` did to `doing`: an ErgonError where the cause is an expected one. */
export function describedError(error: unknown, doing: string): unknown {
  if (error instanceof ErgonError) return error
  const fault = isAbort(error) ? 'interrupted' : BY_ERRNO[errnoOf(error)]
  return fault === undefined ? error : artifactFault(fault, `${doing}: ${REASONS[fault]}`, error)
}

/** An AbortSignal's own reason has a number where system errors have their name. */
const isAbort = (error: unknown) =>
  error instanceof Error && ['AbortError', 'TimeoutError'].includes(error.name)

const REASONS: Readonly<Record<string, string>> = {
  full: 'the disk is full',
  unwritable: 'the folder may not be written',
  interrupted: 'interrupted',
  unreachable: 'the connection broke off',
}
