// The error class of the product. contract/errors.ts has the codes; each protocol renders errors in its own form.

export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>

/** A code for operators: the HTTP status where the error crosses HTTP, and advice. */
export type OperatorEntry = { readonly status: number; readonly help: string }

export type FaultOptions = {
  /** The field of the request that is wrong. */
  readonly param?: string
  readonly retryAfterS?: number
  /** Facts for programs, in the body of the answer. */
  readonly details?: ErrorDetails
  /** Headers of the answer, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** An expected failure with a public code. `status` is the HTTP status of the answer. */
export class ErgonError extends Error {
  readonly code: string
  readonly status: number
  readonly param: string | null
  readonly retryAfterS: number | undefined
  readonly details: ErrorDetails
  readonly headers: Readonly<Record<string, string>>

  constructor(fault: { code: string; status: number }, message: string, more: FaultOptions = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'ErgonError'
    this.code = fault.code
    this.status = fault.status
    this.param = more.param ?? null
    this.retryAfterS = more.retryAfterS
    this.details = more.details ?? {}
    this.headers = more.headers ?? {}
  }
}

/** An expected failure that no caller tells apart from others: its message says why, and it has no code. */
export class Failure extends Error {
  override readonly name = 'Failure'
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
