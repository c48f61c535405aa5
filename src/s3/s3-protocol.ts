// The S3 protocol on the pipeline of the API. The method and the subresource name the operation, the signature names
// the caller (access key and secret are the token), and the body is a stream that is verified as it flows.
import type { IncomingHttpHeaders } from 'node:http'
import type { ErgonError } from '#base/errors.ts'
import type { ClientOf } from '#http/client-of.ts'
import type {
  BrowserCredential,
  MatchedOperation,
  Endpoint,
  ProtocolHandler,
  RenderedError,
} from '#http/protocol-handler.ts'
import type { Exchange } from '#http/exchange.ts'
import { TRANSFER_DEADLINE_MS } from '#http/limits.ts'
import { hostOf } from '#http/request-form.ts'
import type { Handler, ReplyHeaders } from '#http/reply.ts'
import type { Principal } from '#identity/principal.ts'
import type { RecordAccess, Trace } from './logging/record.ts'
import type { Handlers, StorageCall, StorageHandler } from './call.ts'
import type { Callers } from './authentication/callers.ts'
import { Judging } from './policy/judging.ts'
import { match, type Match } from './match.ts'
import type { ServedOperation } from '#contract/storage/s3-operations.ts'
import type { Unserved } from './unserved.ts'
import { createPayload } from './body/payload.ts'
import { renderFault } from './render-error.ts'
import {
  parseCredential,
  type SignedCredential,
  type Signing,
} from './authentication/credential.ts'
import { withHoisted } from './authentication/hoisted.ts'
import type { VerifiedSignature, SignatureVerifier } from './authentication/verify.ts'
import type { CredentialV2 } from './authentication/version-two.ts'
import { onSite } from './site-headers.ts'
import { parsePlace, targetAt, type BaseHosts, type S3Target } from './target.ts'

/** An operation of this protocol, with its target, and later the verified signature. */
type StorageMatch = MatchedOperation & {
  readonly match: Match
  readonly target: S3Target
  /** With the headers in a presigned address, which count once its signature is verified. */
  readonly headers: IncomingHttpHeaders
  readonly trace: Trace
  verified?: VerifiedSignature
}

const SIGNINGS: { readonly [kind in (SignedCredential | CredentialV2)['kind']]: Signing } = {
  header: { by: 'header', version: 4 },
  query: { by: 'query', version: 4 },
  form: { by: 'form', version: 4 },
  'header-v2': { by: 'header', version: 2 },
  'query-v2': { by: 'query', version: 2 },
}

/** Pages of a site: below which first segment of its paths they call storage, and by which credential. */
export type StorageOfSite = { readonly segment: string; readonly credential: BrowserCredential }

export function createS3Protocol(deps: {
  callers: Callers
  verifier: SignatureVerifier
  record: RecordAccess
  clientOf: ClientOf
  bases: BaseHosts
  handlers: Handlers
  unserved: Unserved
  /** In place of signatures. */
  site?: StorageOfSite
}): ProtocolHandler {
  const { callers, verifier, record, clientOf, bases, handlers, unserved, site } = deps
  const ownOf = site === undefined ? asIs : onSite

  function endpointOf(found: Match): Endpoint {
    const handler = isServed(found) ? handlers[found.operation] : unserved(found)
    return { handle: identified(handler, ownOf) as Handler<never> }
  }

  async function identify(exchange: Exchange, found: StorageMatch): Promise<Principal | undefined> {
    const { request, method } = exchange
    if (site !== undefined) return await site.credential.identify(exchange, false)
    const credential = parseCredential(found.target, request.headers)
    if (credential.kind === 'anonymous') return undefined
    if (credential.kind === 'bearer') return await callers.ofToken(credential.token)
    found.trace.signing = SIGNINGS[credential.kind]
    const { bucket, key } = found.target
    const { caller, secret } = await callers.ofSignature(credential, { method, bucket, key })
    found.verified = verifier.verify(credential, secret, {
      ...found.target,
      method,
      rawHeaders: request.rawHeaders,
    })
    return caller
  }

  return {
    ...(site === undefined ? {} : { headers: site.credential.headers }),
    ignoresExpectations: true,
    match(exchange) {
      const { request } = exchange
      const url = request.url ?? '/'
      const place =
        site === undefined
          ? parsePlace(url, hostOf(request), bases)
          : parsePlace(url.slice(site.segment.length + 1), '', bases)
      const trace: Trace = { client: clientOf(request), bucketName: place.bucket }
      record(exchange, trace)
      const target = targetAt(place)
      trace.target = target
      const headers = withHoisted(target, request.headers)
      const found = match(exchange.method, target, headers)
      trace.operation = found.operation
      return {
        operation: isServed(found) ? `storage.${found.operation}` : 'storage.unserved',
        endpoint: endpointOf(found),
        parameters: {},
        match: found,
        target,
        headers,
        trace,
      } satisfies StorageMatch
    },
    async identify(exchange, matched) {
      const { match: found, trace } = matched as StorageMatch
      if (found.row.scope === null) return undefined
      const caller = await identify(exchange, matched as StorageMatch)
      if (caller !== undefined) trace.account = caller.account
      return caller
    },
    body: async (exchange, matched) => callOf(exchange, matched as StorageMatch),
    render: (error, request) => render(error, request, ownOf),
  }
}

const isServed = (found: Match): found is Match & { readonly operation: ServedOperation } =>
  found.row.answer === 'served'

const asIs = (headers: ReplyHeaders): ReplyHeaders => headers

const render = (
  error: ErgonError,
  { requestId, exchange }: { requestId: string; exchange?: Exchange },
  ownOf: typeof asIs,
): RenderedError => {
  const { method, path } = exchange ?? { method: '', path: '' }
  const rendered = renderFault(error, method, { requestId, hostId: requestId, resource: path })
  const { 'content-type': contentType = 'application/xml', ...headers } = rendered.headers
  return { status: rendered.status, contentType, body: rendered.body, headers: ownOf(headers) }
}

/** Successful replies have the request's id, as errors do. */
const identified =
  (handler: StorageHandler, ownOf: typeof asIs): StorageHandler =>
  async (request) => {
    const reply = await handler(request)
    const id = request.spend.requestId
    const headers = { ...ownOf(reply.headers ?? {}), 'x-amz-request-id': id, 'x-amz-id-2': id }
    return { ...reply, headers }
  }

/** The input of handlers; its payload is unread. */
function callOf(
  exchange: Exchange,
  { match: found, target, headers, trace, verified }: StorageMatch,
): StorageCall {
  const { headers: sent } = exchange.request
  return {
    trace,
    judging: new Judging(),
    match: found,
    target,
    headers: verified === undefined ? sent : headers,
    payload: createPayload(exchange, verified),
    prolong: () => exchange.prolong(TRANSFER_DEADLINE_MS),
    client: trace.client,
  }
}
