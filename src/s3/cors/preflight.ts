// CORS preflights, and the CORS headers of all other replies.
import type { IncomingHttpHeaders } from 'node:http'
import { ErgonError } from '#base/errors.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import type { Access } from '#s3/policy/access.ts'
import { emptyReply } from '#s3/reply.ts'
import { corsHeaders, preflightHeaders, type CorsRequest } from './cors.ts'

/** Headers that scripts of other origins may read, so that a page can show the cost of a request. */
const ENERGY_HEADERS = 'X-Energy-Joules, X-Carbon-mg, X-Routed-To, X-Tier, X-Receipt-Id'

const text = (value: string | string[] | undefined) =>
  value === undefined ? undefined : String(value)

/** OPTIONS of a bucket or an object. Throws NoSuchBucket, BadRequest, AccessForbidden. */
export const createPreflight =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) => {
    const { headers } = request.body
    const bucket = await access.find(request)
    return emptyReply(exposing(preflightHeaders(documentOf(bucket, 'cors'), preflightOf(headers))))
  }

const preflightOf = (headers: IncomingHttpHeaders): CorsRequest => ({
  origin: text(headers.origin),
  method: text(headers['access-control-request-method']),
  headers: text(headers['access-control-request-headers']),
})

/** OPTIONS of the service; no script may read its replies. Throws BadRequest, AccessForbidden. */
export const preflightOfService: StorageHandler = async ({ body: { headers } }) =>
  emptyReply(preflightHeaders(undefined, preflightOf(headers)))

/** Adds the headers of the bucket's CORS rules to replies and errors. */
export const withCors =
  (deps: { access: Access }, handler: StorageHandler): StorageHandler =>
  async (request) => {
    if (request.body.headers.origin === undefined) return await handler(request)
    const headers = await headersFor(deps, request)
    try {
      const reply = await handler(request)
      return { ...reply, headers: { ...reply.headers, ...headers } }
    } catch (error) {
      if (error instanceof ErgonError) throw withHeaders(error, headers)
      throw error
    }
  }

async function headersFor(
  { access }: { access: Access },
  request: StorageRequest,
): Promise<Record<string, string>> {
  const asked = corsRequest(request)
  if (asked === undefined || request.body.target.bucket === undefined) return {}
  // The handler itself reports a missing bucket.
  const bucket = await access.find(request).catch(() => undefined)
  if (bucket === undefined) return {}
  return exposing(corsHeaders(documentOf(bucket, 'cors'), asked))
}

function corsRequest({ body: { headers, match } }: StorageRequest): CorsRequest | undefined {
  const origin = text(headers.origin)
  if (origin === undefined) return undefined
  const method = text(headers['access-control-request-method']) ?? methodOf(match.operation)
  return { origin, method }
}

/** Each operation has one method, and the first word of its name tells it. */
function methodOf(operation: string): string {
  const [verb = ''] = operation.split('-')
  return { get: 'GET', list: 'GET', head: 'HEAD', delete: 'DELETE', post: 'POST' }[verb] ?? 'PUT'
}

/** An allowed origin may also read the cost of the request. */
function exposing(headers: Record<string, string>): Record<string, string> {
  if (headers['access-control-allow-origin'] === undefined) return headers
  const name = 'access-control-expose-headers'
  const own = headers[name]
  return { ...headers, [name]: own === undefined ? ENERGY_HEADERS : `${own}, ${ENERGY_HEADERS}` }
}

/** The same error with more headers. */
const withHeaders = (error: ErgonError, headers: Record<string, string>): ErgonError =>
  new ErgonError(error, error.message, {
    ...(error.retryAfterS === undefined ? {} : { retryAfterS: error.retryAfterS }),
    details: error.details,
    headers: { ...error.headers, ...headers },
    cause: error,
  })
