// The one error of the product. Codes live in contract/errors.ts; doors render it in their own form.

export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>

/** An expected failure with a public code. `status` is the HTTP status that a door answers with. */
export class ErgonError extends Error {
  readonly code: string
  readonly status: number
  readonly param: string | null
  readonly retryAfterS: number | undefined
  readonly details: ErrorDetails

  constructor(
    fault: { code: string; status: number },
    message: string,
    more: { param?: string; retryAfterS?: number; details?: ErrorDetails; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'ErgonError'
    this.code = fault.code
    this.status = fault.status
    this.param = more.param ?? null
    this.retryAfterS = more.retryAfterS
    this.details = more.details ?? {}
  }
}

/** A broken promise of our own code: never the caller's fault. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Asserts what must hold; kept on in production. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** The value, or an InvariantError when it is absent. */
export function present<T>(value: T | undefined | null, message: string): T {
  if (value === undefined || value === null) throw new InvariantError(message)
  return value
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
