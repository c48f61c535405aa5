// control.sock (mode 0600): the operator's API, for the user who owns the data folder. The path is the name of an
// operation of contract/control.ts; the body is its request, as JSON. Long work answers with lines, the last of which
// is the result; metrics are text. No customer reaches it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ErgonError, invariant, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { jsonText, readWhole, serveUnix, type UnixServer } from '#base/unix-server.ts'
import { CONTROL } from '#contract/control.ts'
import type { ControlCall, ControlOperation } from '#contract/control-operation.ts'
import { fault } from '#contract/errors.ts'
import { parseWith } from '#contract/values/parse.ts'

/** Handlers by the names of their operations: parts of `ControlHandlers` of the areas' tables. */
export type ControlPart = Readonly<Record<string, (request: never, call: ControlCall) => unknown>>

const BODY_BYTES_MAX = 1024 * 1024

/** Serves the operator's operations. Throws an InvariantError for a name that the contract does not have. */
export function startControl(options: {
  socket: string
  handlers: ControlPart
  log: Logger
}): Promise<UnixServer> {
  const { socket, handlers, log } = options
  const names = Object.keys(handlers)
  for (const name of names) invariant(operationOf(name), `no operation of the operator: ${name}`)
  return serveUnix({ socket, mode: 0o600 }, (request, response) => {
    void answer(request, response, handlers).catch((error: unknown) => {
      const known = error instanceof ErgonError ? error : undefined
      if (known === undefined) log.error('An operator operation failed', { error })
      const line = { error: { code: known?.code ?? 'internal', message: messageOf(error) } }
      if (!response.headersSent) response.writeHead(known?.status ?? 500)
      response.end(`${jsonText(line)}\n`)
    })
  })
}

/** Throws an InvariantError when an operation of the contract has no handler. */
export function demandHandlers(handlers: ControlPart): void {
  const missing = Object.keys(CONTROL).filter((name) => !Object.hasOwn(handlers, name))
  invariant(missing.length === 0, `operations of the operator without a handler: ${missing.join()}`)
}

const operationOf = (name: string): ControlOperation | undefined =>
  Object.hasOwn(CONTROL, name) ? CONTROL[name as keyof typeof CONTROL] : undefined

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handlers: ControlPart,
): Promise<void> {
  const name = (request.url ?? '').slice(1)
  const operation = operationOf(name)
  const handle = Object.hasOwn(handlers, name) ? handlers[name] : undefined
  if (operation === undefined || handle === undefined)
    throw fault('not_found', `Could not find the operation: ${name.slice(0, 100)}`)
  const gone = new AbortController()
  response.once('close', () => gone.abort(fault('client_closed', 'The operator has gone')))
  const result = await handle(parseWith(operation.request, await bodyOf(request)) as never, {
    signal: gone.signal,
    progress: (progress) => void response.write(`${JSON.stringify({ progress })}\n`),
  })
  if (typeof result === 'string') {
    response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4' })
    response.end(result)
    return
  }
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'application/json' })
  response.end(`${jsonText({ result })}\n`)
}

/** No body is an empty request. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const bytes = await readWhole(request, BODY_BYTES_MAX, () =>
    fault('body_too_large', 'Could not read the body: more than 1 MiB'),
  )
  if (bytes.length === 0) return {}
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw fault('invalid_json', 'Could not read the body: it is not JSON', { cause })
  }
}
