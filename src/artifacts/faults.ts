// Failures of fetching an artifact, each with its own code, and the one function that turns an error of the operating
// system into such a failure.
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { OperatorCode } from '#contract/operator/operator-errors.ts'

export type ArtifactFault = 'storage_full' | Extract<OperatorCode, `artifact_${string}`>

export const artifactFault = (code: ArtifactFault, message: string, cause?: unknown): ErgonError =>
  fault(code, message, { cause })

/** The errno of a system error, as text, or '' when it is none. */
export const errnoOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const BY_ERRNO: Readonly<Record<string, ArtifactFault>> = {
  ENOSPC: 'storage_full',
  EDQUOT: 'storage_full',
  EACCES: 'artifact_folder_unwritable',
  EPERM: 'artifact_folder_unwritable',
  EROFS: 'artifact_folder_unwritable',
  ECONNRESET: 'artifact_unreachable',
  ETIMEDOUT: 'artifact_unreachable',
  ERR_STREAM_PREMATURE_CLOSE: 'artifact_unreachable',
}

/** The error to throw for what `error` did to `doing`: an ErgonError where the cause is an expected one. */
export function describedError(error: unknown, doing: string): unknown {
  if (error instanceof ErgonError) return error
  const code = isAbort(error) ? 'artifact_interrupted' : BY_ERRNO[errnoOf(error)]
  return code === undefined ? error : artifactFault(code, `${doing}: ${REASONS[code]}`, error)
}

/** An AbortSignal's own reason has a number where system errors have their name. */
const isAbort = (error: unknown) =>
  error instanceof Error && ['AbortError', 'TimeoutError'].includes(error.name)

const REASONS: Readonly<Record<string, string>> = {
  storage_full: 'the disk is full',
  artifact_folder_unwritable: 'the folder may not be written',
  artifact_interrupted: 'artifact_interrupted',
  artifact_unreachable: 'the connection broke off',
}
