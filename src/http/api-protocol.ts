// The JSON API as a protocol: routes by method and path, bearer tokens, JSON bodies, problem+json.
import findMyWay from 'find-my-way'
import { invariant, type ErgonError } from '#base/errors.ts'
import { fault, type Code } from '#contract/errors.ts'
import { operationOf, type OperationName } from '#contract/operations.ts'
import { ROUTE_METHODS } from '#contract/product.ts'
import { ROUTES, UNSERVED_ROUTES } from '#contract/routes.ts'
import type { Identity } from '#identity/identity.ts'
import { CORS_HEADERS, isPreflight, optionsHandler } from './cors.ts'
import type {
  BrowserCredential,
  MatchedOperation,
  ProtocolHandler,
  Endpoint,
} from './protocol-handler.ts'
import type { RefusalFacts } from './gateway-part.ts'
import type { Exchange } from './exchange.ts'
import { readBody, readJson } from './json-body.ts'
import { renderProblem } from './problem.ts'
import { wrongAddress } from './wrong-address.ts'

const OPENAI_PATHS = ROUTES.filter(
  ({ operation, path }) =>
    operationOf(operation).service === 'inference' && !/:|\/ceiling$/.test(path),
)
const OPENAI_SERVED = `Of OpenAI's API there are ${OPENAI_PATHS.map(({ method, path }) => `${method} ${path}`).join(', ')}`

const QUERIES = new Map(ROUTES.map(({ operation, query }) => [operation, query]))

/** `endpoints` holds an implementation for every operation that a route names. */
export function createApiProtocol(deps: {
  identity: Identity
  endpoints: Partial<Record<OperationName, Endpoint>>
  /** The public address, where a proxy is in front. */
  baseUrl?: string | undefined
  refusalFacts?: RefusalFacts
  browser?: BrowserCredential
}): ProtocolHandler {
  const { refusalFacts = {}, browser, endpoints, baseUrl } = deps
  return {
    headers: browser?.headers ?? CORS_HEADERS,
    match: createMatch({ endpoints, baseUrl, isPortal: browser !== undefined }),
    identify(exchange, matched) {
      const { scope, tokenOptional } = operationOf(matched.operation)
      if (scope !== null && browser !== undefined)
        return browser.identify(exchange, tokenOptional === true)
      const authorization = exchange.header('authorization')
      if (scope === null || (tokenOptional === true && authorization === undefined))
        return undefined
      return deps.identity.identify(authorization)
    },
    body: bodyOf,
    render: (error, request) => renderProblem(error, request, refusalFacts[error.code as Code]),
  }
}

/** The function that finds the operation of a request. It throws not_found, method_not_allowed, not_implemented, portal_only. */
function createMatch(deps: {
  endpoints: Partial<Record<OperationName, Endpoint>>
  baseUrl: string | undefined
  isPortal: boolean
}): ProtocolHandler['match'] {
  const router = routerOf(deps.endpoints)
  const methodsOf = ({ path }: Exchange) =>
    ROUTE_METHODS.filter((method) => router.find(method, path) !== null)

  /** A page may ask for a path that there is not, so that it can read the refusal. */
  function optionsOf(exchange: Exchange): MatchedOperation {
    const known = methodsOf(exchange)
    if (known.length === 0 && !isPreflight(exchange)) throw refuse(exchange)
    const handle = optionsHandler(known.length === 0 ? ROUTE_METHODS : known)
    return { operation: 'service.nobody', endpoint: { handle }, parameters: {} }
  }

  function refuse(exchange: Exchange) {
    const allow = methodsOf(exchange)
    if (allow.length > 0)
      return fault('method_not_allowed', `Could not call the path with ${exchange.method}`, {
        headers: { allow: allow.join(', ') },
      })
    if (exchange.path.startsWith('/v1/v1')) return wrongAddress(exchange, deps.baseUrl)
    const path = exchange.path.slice(0, 200)
    return fault('not_found', `Could not find the path: "${path}". ${OPENAI_SERVED}`)
  }

  return (exchange) => {
    if (exchange.method === 'OPTIONS') return optionsOf(exchange)
    const method = exchange.method === 'HEAD' ? 'GET' : exchange.method
    const found = ROUTE_METHODS.some((known) => known === method)
      ? router.find(method as 'GET', exchange.path)
      : null
    if (found === null) throw refuse(exchange)
    const bound = found.store as BoundRoute | null
    if (bound === null)
      throw fault(
        'not_implemented',
        `Could not serve the path yet: "${exchange.path.slice(0, 200)}". ${OPENAI_SERVED}`,
      )
    if (!deps.isPortal && operationOf(bound.operation).onPortal === true)
      throw fault('portal_only', `Could not call ${bound.operation}: only the portal answers it`)
    return { ...bound, parameters: found.params as Record<string, string> }
  }
}

type BoundRoute = { readonly operation: OperationName; readonly endpoint: Endpoint }

/** Finds the bound route of a method and a path; null for a path of OpenAI's API that is not served. */
function routerOf(endpoints: Partial<Record<OperationName, Endpoint>>) {
  const router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 512 })
  for (const { method, path, operation } of ROUTES) {
    const endpoint = endpoints[operation]
    invariant(endpoint !== undefined, `no endpoint for ${operation}`)
    router.on(method, path, () => undefined, { operation, endpoint } satisfies BoundRoute)
  }
  for (const { method, path } of UNSERVED_ROUTES) router.on(method, path, () => undefined, null)
  return router
}

async function bodyOf(
  exchange: Exchange,
  { operation, endpoint }: MatchedOperation,
): Promise<unknown> {
  checkTarget(exchange, operation)
  if (endpoint.bytesMax !== undefined) return await readBody(exchange, endpoint.bytesMax)
  if (endpoint.parse === undefined) return undefined
  return endpoint.parse(await readJson(exchange))
}

/** Throws invalid_request where a name of the query is not one of the operation's. No text of the state has a NUL. */
function checkTarget(exchange: Exchange, operation: OperationName): void {
  if (exchange.request.url?.includes('%00') === true) throw nulFault(exchange)
  const known = QUERIES.get(operation)
  if (known === undefined || !exchange.hasQuery) return
  for (const name of exchange.query.keys()) {
    if (known.includes(name)) continue
    const text = name.slice(0, 60)
    const all = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`
    throw fault('invalid_request', `Could not read the query: "${text}" is not known, ${all}`, {
      param: text,
    })
  }
}

function nulFault({ query }: Exchange): ErgonError {
  const [param] = [...query].find(([, value]) => value.includes('\0')) ?? []
  const what = param === undefined ? 'the path or the query' : param.slice(0, 60)
  return fault(
    'invalid_request',
    `Could not read ${what}: it has a NUL character`,
    param === undefined ? {} : { param },
  )
}
