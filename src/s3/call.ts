// What an operation of the S3 door is handed: where it was called, by whom, with what body.
import type { IncomingHttpHeaders } from 'node:http'
import type { ServedOperation } from '#contract/s3-operations.ts'
import type { Client } from '#http/client-of.ts'
import type { Handled, Reply } from '#http/reply.ts'
import type { Trace } from './logging/record.ts'
import type { Judging } from './policy/judging.ts'
import type { Match } from './match.ts'
import type { Payload } from './body/payload.ts'
import type { Target } from './target.ts'

export type StorageCall = {
  /** What its handling finds out, for the log of its bucket; how it was signed, for policies too. */
  readonly trace: Trace
  /** What judging it has cost so far. */
  readonly judging: Judging
  readonly match: Match
  readonly target: Target
  readonly headers: IncomingHttpHeaders
  readonly payload: Payload
  /** From now on it may take as long as an object does: for who may do what is asked. */
  prolong(): void
  /** Who asked, for policies. */
  readonly client: Client
}

export type StorageRequest = Handled<StorageCall>
export type StorageHandler = (request: StorageRequest) => Promise<Reply>

/** A handler for each served operation of the contract: a missing one is a type error. */
export type Handlers = Readonly<Record<ServedOperation, StorageHandler>>
