// An entry of the error catalogue: its type, and the entries by the party at fault.
import type { OperatorEntry } from '#base/errors.ts'

/**
 * `final` marks an error that SDKs must not retry, though they retry others of its status by themselves. `complete` marks an
 * error whose messages say what to do: its advice stands in the reference alone.
 */
export type ErrorEntry = OperatorEntry & {
  readonly fault: 'caller' | 'account' | 'service'
  readonly type: string
  readonly final?: true
  readonly complete?: true
}

export const caller = (
  status: number,
  help: string,
  type = 'invalid_request_error',
): ErrorEntry => ({
  status,
  fault: 'caller',
  type,
  help,
})
export const account = (status: number, type: string, help: string): ErrorEntry => ({
  status,
  fault: 'account',
  type,
  help,
})
export const service = (status: number, help: string): ErrorEntry => ({
  status,
  fault: 'service',
  type: 'api_error',
  help,
})

export const final = (entry: ErrorEntry): ErrorEntry => ({ ...entry, final: true })
export const complete = (entry: ErrorEntry): ErrorEntry => ({ ...entry, complete: true })

/** Errors of one area, by code. */
export type ErrorTable = Readonly<Record<string, ErrorEntry>>
