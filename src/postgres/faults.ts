// The errors of installing and initialising PostgreSQL.
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { OperatorCode } from '#contract/operator/operator-errors.ts'

type PostgresCode = Extract<OperatorCode, `postgres_${string}`>

export const postgresFault = (code: PostgresCode, message: string, cause?: unknown): ErgonError =>
  fault(code, message, { cause })
