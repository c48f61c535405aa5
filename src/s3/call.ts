// A request as the operations of S3 get it: the call, the caller and the body.
import type { IncomingHttpHeaders } from 'node:http'
import type { ServedOperation } from '#contract/storage/s3-operations.ts'
import type { RemoteClient } from '#http/client-of.ts'
import type { OperationCall, Reply } from '#http/reply.ts'
import type { Trace } from './logging/record.ts'
import type { Judging } from './policy/judging.ts'
import type { Match } from './match.ts'
import type { Payload } from './body/payload.ts'
import type { S3Target } from './target.ts'

export type StorageCall = {
  /** Facts for the access log of the bucket; policies use the signing. */
  readonly trace: Trace
  /** The cost of evaluating policies so far. */
  readonly judging: Judging
  readonly match: Match
  readonly target: S3Target
  readonly headers: IncomingHttpHeaders
  readonly payload: Payload
  /** Extends the deadline to that of a transfer; called once the request is allowed. */
  prolong(): void
  /** The client's address, for policies. */
  readonly client: RemoteClient
}

export type StorageRequest = OperationCall<StorageCall>
export type StorageHandler = (request: StorageRequest) => Promise<Reply>

/** A handler for each served operation of the contract: a missing one is a type error. */
export type Handlers = Readonly<Record<ServedOperation, StorageHandler>>
