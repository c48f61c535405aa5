// control.sock (mode 0600): the operator's API, for the user who owns the data folder. Requests and answers are JSON;
// long work answers with lines, the last of which is the result; metrics are text. No customer reaches it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { jsonText, readBody, serveUnix, type UnixServer } from '#base/unix-server.ts'
import { fault } from '#contract/errors.ts'

/** The arguments of an operator operation. */
export type ControlCall = {
  readonly parameters: readonly string[]
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** Sends a line of progress; the answer becomes JSON lines from the first one on. */
  readonly progress: (line: object) => void
}
export type ControlRoute = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: RegExp
  /** Members that the body may have; none by default. */
  readonly members?: readonly string[]
  readonly handle: (call: ControlCall) => unknown
}

const BODY_BYTES_MAX = 1024 * 1024

/** Serves the operator's operations; the first route that matches answers. */
export const startControl = (options: {
  socket: string
  routes: readonly ControlRoute[]
  log: Logger
}): Promise<UnixServer> =>
  serveUnix({ socket: options.socket, mode: 0o600 }, (request, response) => {
    void answer(request, response, options.routes).catch((error: unknown) => {
      const known = error instanceof ErgonError ? error : undefined
      if (known === undefined) options.log.error('An operator operation failed', { error })
      const line = { error: { code: known?.code ?? 'internal', message: messageOf(error) } }
      if (!response.headersSent) response.writeHead(known?.status ?? 500)
      response.end(`${jsonText(line)}\n`)
    })
  })

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  routes: readonly ControlRoute[],
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://control')
  const found = routes
    .map((route) => ({ route, match: route.path.exec(url.pathname) }))
    .find(({ route, match }) => match !== null && route.method === request.method)
  if (found?.match == null)
    throw fault('not_found', `Could not find the operation: ${request.method} ${url.pathname}`)
  const gone = new AbortController()
  response.once('close', () => gone.abort(fault('client_closed', 'The operator has gone')))
  const result = await found.route.handle({
    parameters: found.match.slice(1).map(decodeURIComponent),
    query: url.searchParams,
    body: demandKnown(await bodyOf(request), found.route),
    signal: gone.signal,
    progress: (line) => void response.write(`${JSON.stringify(line)}\n`),
  })
  if (typeof result === 'string') {
    response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4' })
    response.end(result)
    return
  }
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'application/json' })
  response.end(`${jsonText({ result: result ?? null })}\n`)
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const bytes = await readBody(request, BODY_BYTES_MAX, () =>
    fault('body_too_large', 'Could not read the body: more than 1 MiB'),
  )
  if (bytes.length === 0) return {}
  const body = parse(bytes.toString('utf8'))
  if (typeof body === 'object' && body !== null) return body as Record<string, unknown>
  throw fault('invalid_json', 'Could not read the body: it is no JSON object')
}

/** Throws invalid_request of a member that would do nothing in silence. */
function demandKnown(body: ControlCall['body'], { members = [] }: ControlRoute) {
  const name = Object.keys(body).find((given) => !members.includes(given))
  if (name === undefined) return body
  const known = members.length === 0 ? 'there are none' : `there are ${members.join(', ')}`
  throw fault(
    'invalid_request',
    `Could not read the body: it has a member "${name.slice(0, 100)}" that is not known, ${known}`,
    { param: name.slice(0, 100) },
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw fault('invalid_json', 'Could not read the body: it is not JSON', { cause })
  }
}

/** A text member of a body. Throws invalid_request when it is absent or no text. */
export function textOf(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name]
  if (typeof value === 'string' && value !== '') return value
  throw fault('invalid_request', `Could not read "${name}": a text is needed`, { param: name })
}
