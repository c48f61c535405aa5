// The input and the result of a handler.
import type { Socket } from 'node:net'
import type { ErgonError } from '#base/errors.ts'
import type { Spend } from '#charging/spend.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import type { Principal } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'

export type ReplyHeaders = Readonly<Record<string, string>>

/** A reply whose bytes are made after settling, so that they can carry the final figures. */
export type KnownReply = {
  readonly kind: 'known'
  readonly status: number
  readonly headers?: ReplyHeaders
  /** Where it differs from the body's length: HEAD answers with the length of a GET. */
  readonly contentLength?: number
  /** About how long the body will be: what writing it costs is billed by its size class. */
  readonly bytesExpected?: number
  /** Default application/json. */
  readonly contentType?: string
  /** The reason of a cut in spite of which it was made: what was paid for is given. */
  readonly despite?: ErgonError
  /** The body for a settled charge; a string, bytes or Pieces go out as they are, anything else as JSON. */
  readonly body: (charge: Charge) => unknown
}

/** A reply in JSON that does not depend on its charge. */
export const known = (body: object, status = 200): KnownReply => ({
  kind: 'known',
  status,
  body: () => body,
})

/** Bytes in order that need not be put together; buffers of a pool go back to it when they are sent. */
export class Pieces {
  readonly list: readonly Buffer[]
  constructor(list: readonly Buffer[]) {
    this.list = list
  }
}

/** A reply that is written while the work goes on. */
export type StreamedReply = {
  readonly kind: 'streamed'
  readonly status: number
  readonly headers?: ReplyHeaders
  readonly contentType: string
  /** Bytes of all chunks together, where known: no figures can follow the chunks then. */
  readonly contentLength?: number
  /** Pulled with back-pressure; each chunk is written as it comes. Returning early ends the work. */
  readonly chunks: AsyncIterable<string | Uint8Array>
  /** The last chunk, written after settling, with the final figures. */
  readonly last: (charge: Charge) => string
  /** The last chunk when the work fails after the head was sent. */
  readonly cut: (error: ErgonError, charge: Charge) => string
  /** Called with `last` when the work went well, before that leaves. */
  readonly finished?: (charge: Charge, last: string) => Promise<void>
}

export type Reply = KnownReply | StreamedReply

/** Throws why the exchange has ended, unless the reply was made in spite of just that. */
export function assertStands({ despite }: KnownReply, signal: AbortSignal): void {
  if (despite === undefined || signal.reason !== despite) signal.throwIfAborted()
}

/** A known reply's body as it goes out: text and bytes as they are, all else as JSON. */
export const wireBody = (made: unknown): string | Uint8Array =>
  typeof made === 'string' || made instanceof Uint8Array ? made : JSON.stringify(made)

/** The key of a request, for the work that the request begins. */
export interface BegunKey {
  /** The result of an earlier request with the key; undefined: nothing was begun. */
  readonly before: unknown
  /** Notes what is begun. Throws idempotency_in_progress where another request has the key by now. */
  keep(transaction: Queryable, made: object): Promise<void>
}

/** The input of a handler. `body` is the parsed and checked body. */
export type OperationCall<Body = unknown> = {
  readonly caller: Principal | undefined
  /**
   * Judges and counts a caller whom only the body names, as the pipeline does those whom the head names.
   * Throws scope_missing, too_many_requests.
   */
  readonly arrive: (caller: Principal) => void
  /**
   * Counts a caller without a name among those for whom this account pays; once, however often it is
   * called. Throws too_many_requests.
   */
  readonly arriveAsStranger: (account: string) => void
  readonly parameters: Readonly<Record<string, string>>
  /** No getter, as this is made for every request; see base/fast-objects.fixture.ts. */
  readonly query: () => URLSearchParams
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Socket and headers name the client, by `clientOf` of the gateway's core. */
  readonly socket: Socket
  readonly body: Body
  readonly spend: Spend
  /** Aborts on client gone, deadline, drain and cut. */
  readonly signal: AbortSignal
  /** The key of a request with an Idempotency-Key, for `once()`. */
  readonly begun?: BegunKey | undefined
}

export type Handler<Body = unknown> = (call: OperationCall<Body>) => Reply | Promise<Reply>
