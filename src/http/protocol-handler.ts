// The interface of a protocol on the pipeline: how it finds its operation, credential and body, and how it refuses. The
// JSON API is one protocol; S3 is another on the same port.
import type { ErgonError } from '#base/errors.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Principal } from '#identity/principal.ts'
import type { HeaderList } from './energy-headers.ts'
import type { Exchange } from './exchange.ts'
import type { Handler, ReplyHeaders } from './reply.ts'

/** An operation's implementation: the parser of its body, and the work. */
export type Endpoint = {
  /** Checks a parsed JSON body; absent for operations without one. Throws invalid_request. */
  readonly parse?: (json: unknown) => unknown
  /** The body is bytes in place of JSON, such as signed ones, up to this number. */
  readonly bytesMax?: number
  readonly handle: Handler<never>
}

export type MatchedOperation = {
  readonly operation: OperationName
  readonly endpoint: Endpoint
  readonly parameters: Readonly<Record<string, string>>
}

export type RenderedError = {
  /** Where the protocol has another status for the error than our own. */
  readonly status?: number
  readonly contentType: string
  readonly body: string
  readonly headers: ReplyHeaders
}

export interface ProtocolHandler {
  /** Headers of every answer, also of refusals: names and values in turn. */
  readonly headers?: readonly string[]
  /** Clients of the protocol send Expect headers that mean nothing, and are answered all the same. */
  readonly ignoresExpectations?: boolean
  /** Throws not_found, method_not_allowed. */
  match(exchange: Exchange): MatchedOperation
  /** Undefined for operations that need no token. Throws the 401 family. */
  identify(
    exchange: Exchange,
    matched: MatchedOperation,
  ): Principal | undefined | Promise<Principal | undefined>
  body(exchange: Exchange, matched: MatchedOperation): Promise<unknown>
  /** `exchange` is absent where the request could not be read. */
  render(error: ErgonError, request: { requestId: string; exchange?: Exchange }): RenderedError
}

/** The credential of a protocol on an origin of browsers, in place of tokens, signatures and CORS. */
export type BrowserCredential = {
  readonly headers: HeaderList
  /** Undefined where the request has none and needs none. Throws the 401 family. */
  identify(
    exchange: Exchange,
    isOptional: boolean,
  ): Principal | undefined | Promise<Principal | undefined>
}
