// Hints for a client of the API whose base address lacks /v1, so that the S3 protocol got its request. Only the form
// of a refusal changes here, and a browser is allowed to ask and to read it: no request that S3 can serve is taken
// from S3, whatever its bucket is called.
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { ROUTE_METHODS } from '#contract/product.ts'
import { ROUTES, UNSERVED_ROUTES } from '#contract/routes.ts'
import { isPreflight, optionsHandler } from './cors.ts'
import type { ProtocolHandler, Endpoint } from './protocol-handler.ts'
import { pairsOf } from './energy-headers.ts'
import type { Exchange } from './exchange.ts'
import type { Handler, ReplyHeaders } from './reply.ts'

/** The S3 protocol at the API's own name. `baseUrl` is the public address, where a proxy is in front. */
export function createHintingHandler(deps: {
  storage: ProtocolHandler
  api: ProtocolHandler
  baseUrl: string | undefined
}): ProtocolHandler {
  const { storage, api, baseUrl } = deps
  const cors = Object.fromEntries(pairsOf(api.headers ?? []))
  return {
    ...storage,
    match(exchange) {
      const matched = storage.match(exchange)
      return mayAskForApi(exchange)
        ? { ...matched, endpoint: orPreflight(matched.endpoint, cors) }
        : matched
    },
    render(error, request) {
      const { exchange } = request
      if (exchange === undefined || isSigned(exchange)) return storage.render(error, request)
      if (!isForApi(error, exchange)) return storage.render(error, request)
      const hint = api.render(wrongAddress(exchange, baseUrl), request)
      return { ...hint, headers: { ...hint.headers, ...cors }, status: 404 }
    },
  }
}

/** A browser asks on a path like one of the API's. The SDKs of S3 sign with headers that begin with x-amz-. */
const mayAskForApi = (exchange: Exchange): boolean =>
  isPreflight(exchange) &&
  looksLikeApi(exchange.path) &&
  !isSigned(exchange) &&
  exchange.header('access-control-request-headers')?.toLowerCase().includes('x-amz-') !== true

/**
 * Lets a page ask where there is no such bucket, so that the page can read the hint. A bucket that exists keeps
 * its own CORS rules.
 */
function orPreflight(own: Endpoint, cors: ReplyHeaders): Endpoint {
  const allow = optionsHandler(ROUTE_METHODS)
  const handle: Handler<never> = async (call) => {
    try {
      return await own.handle(call)
    } catch (error) {
      if (!(error instanceof ErgonError) || !NO_BUCKET.has(error.code)) throw error
      const reply = await allow(call)
      return { ...reply, headers: { ...reply.headers, ...cors } }
    }
  }
  return { ...own, handle }
}

/** 404 with the base address to use. */
export const wrongAddress = (exchange: Exchange, baseUrl: string | undefined): ErgonError =>
  fault(
    'not_found',
    `Could not find the path "${exchange.path.slice(0, 200)}": the base address of the API is ${addressOf(exchange, baseUrl)}/v1`,
  )

/** The service's address, as the caller can reach it. */
export const addressOf = (exchange: Exchange, baseUrl: string | undefined): string =>
  new URL(baseUrl ?? `http://${exchange.header('host') ?? 'localhost'}`).origin

const isBearer = (exchange: Exchange): boolean =>
  exchange.header('authorization')?.toLowerCase().startsWith('bearer ') === true

/** The request has a credential that only S3 clients have. */
export function isSigned(exchange: Exchange): boolean {
  if (exchange.header('authorization') !== undefined && !isBearer(exchange)) return true
  const names = [...exchange.query.keys()].map((name) => name.toLowerCase())
  return names.some((name) => name.startsWith('x-amz-') || name === 'awsaccesskeyid')
}

/** The first names behind /v1: `chat`, `models`, … */
const API_NAMES: ReadonlySet<string> = new Set(
  [...ROUTES, ...UNSERVED_ROUTES].flatMap(({ path }) => path.split('/v1/')[1]?.split('/')[0] ?? []),
)
const VERSION = /^v\d/
/** As in /openai/v1/models. */
const PREFIX_MAX = 2
const NO_BUCKET: ReadonlySet<string> = new Set(['NoSuchBucket', 'InvalidBucketName'])

/**
 * A POST of JSON that names no S3 operation; or a bearer token, which S3's own clients never send, at a bucket
 * that there is not, on a path like one of the API's.
 */
function isForApi({ code }: ErgonError, exchange: Exchange): boolean {
  if (code === 'MethodNotAllowed')
    return exchange.method === 'POST' && (isJson(exchange) || isBearer(exchange))
  return NO_BUCKET.has(code) && isBearer(exchange) && looksLikeApi(exchange.path)
}

const isJson = (exchange: Exchange): boolean =>
  exchange.header('content-type')?.toLowerCase().startsWith('application/json') === true

const looksLikeApi = (path: string): boolean => {
  const names = path.slice(1).split('/', PREFIX_MAX + 1)
  return VERSION.test(names[0] ?? '') || names.some((name) => API_NAMES.has(name))
}
