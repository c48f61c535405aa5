// How PostgreSQL can fail to be installed or initialised.
import { ErgonError } from '#base/errors.ts'

const FAULTS = {
  missing: { code: 'postgres_missing', status: 503 },
  version: { code: 'postgres_version', status: 503 },
  changed: { code: 'postgres_install_changed', status: 503 },
  damaged: { code: 'postgres_install_damaged', status: 503 },
  initialise: { code: 'postgres_not_initialised', status: 503 },
  notReady: { code: 'postgres_not_ready', status: 503 },
} as const

export const postgresFault = (
  fault: keyof typeof FAULTS,
  message: string,
  cause?: unknown,
): ErgonError => new ErgonError(FAULTS[fault], message, { cause })
