// The two APIs that the command line calls: the public API with a token, and the operator's API on its socket.
import { lookup } from 'node:dns'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { buffer as bytesOf } from 'node:stream/consumers'
import { hostOfUrl, isThisMachine } from '#base/hosts.ts'
import * as http from '#base/node-http.ts'
import { callUnix } from '#base/unix-client.ts'
import type { ControlAnswer, ControlLine, ControlName, ControlRequest } from '#contract/control.ts'
import type { ReplyOf, ReplySchema } from '#contract/reply-of.ts'
import { askOnce } from './ask-once.ts'
import { CommandError, EXIT } from './output.ts'
import {
  baseUrlOf,
  controlSocketOf,
  localDataFolder,
  loginCommand,
  loginStep,
  tokenOf,
  type GlobalOptions,
} from './profile.ts'

const TIMEOUT_MS = 30_000

export type ApiAnswer = {
  readonly status: number
  readonly text: string
  readonly bytes: Buffer
  readonly headers: IncomingHttpHeaders
}

/** Nothing answers at the address; the request may be right. */
export class Unreachable extends CommandError {
  /** The request never left. */
  isUnsent = false
}

/** GETs a path of the API; throws a CommandError with the next step for 4xx and 5xx. */
export const apiGet = (
  options: GlobalOptions,
  path: string,
  more: { accept?: string; public?: boolean; token?: string } = {},
): Promise<ApiAnswer> => ask(options, path, more)

/**
 * The reply in an answer, typed by its schema in the contract: `replyOf<typeof topupList>(answer)`. The service has checked
 * the members; here the text must be an object. Throws a CommandError.
 */
export function replyOf<Schema extends ReplySchema>({
  text,
}: Pick<ApiAnswer, 'text'>): ReplyOf<Schema> {
  const reply: unknown = parse(text, undefined)
  if (typeof reply !== 'object' || reply === null || Array.isArray(reply))
    throw new CommandError(`Could not read the answer: ${text.slice(0, 100)}`)
  return reply as ReplyOf<Schema>
}

/** POSTs a JSON body; throws the same. */
export const apiPost = (
  options: GlobalOptions,
  path: string,
  body: object,
  more: { public?: boolean } = {},
): Promise<ApiAnswer> => ask(options, path, { ...more, body })

/** POSTs a JSON body that pays or begins something, by `askOnce()` under one Idempotency-Key. Throws the same. */
export const apiPostOnce = (
  options: GlobalOptions,
  path: string,
  body: object,
  { look, ...more }: { look: string; public?: boolean },
): Promise<ApiAnswer> =>
  askOnce((key) => ask(options, path, { ...more, body, key }), { isUnknown, look })

/** The outcome is unknown. */
const isUnknown = (error: unknown, isFirst: boolean): boolean =>
  error instanceof Unreachable
    ? !(isFirst && error.isUnsent)
    : error instanceof ApiRefusal && error.status >= 500

/** PATCHes with a JSON body; throws the same. */
export const apiPatch = (options: GlobalOptions, path: string, body: object): Promise<ApiAnswer> =>
  ask(options, path, { body, method: 'PATCH' })

/** PUTs, with a JSON body or without; throws the same. */
export const apiPut = (options: GlobalOptions, path: string, body?: object): Promise<ApiAnswer> =>
  ask(options, path, { method: 'PUT', ...(body && { body }) })

/** DELETEs what a path names, some with a JSON body; throws the same. */
export const apiDelete = (
  options: GlobalOptions,
  path: string,
  body?: object,
): Promise<ApiAnswer> => ask(options, path, { method: 'DELETE', ...(body && { body }) })

async function ask(
  options: GlobalOptions,
  path: string,
  more: {
    accept?: string
    public?: boolean
    token?: string
    body?: object
    method?: string
    key?: string
  },
): Promise<ApiAnswer> {
  const url = `${baseUrlOf(options)}${path}`
  const headers: Record<string, string> = { accept: more.accept ?? JSON_TYPE }
  if (more.public !== true) headers['authorization'] = `Bearer ${more.token ?? tokenOf(options)}`
  if (more.body !== undefined) headers['content-type'] = 'application/json'
  if (more.key !== undefined) headers['idempotency-key'] = more.key
  const text = more.body === undefined ? undefined : JSON.stringify(more.body)
  // Node.js gives the body of a DELETE no length by itself.
  if (text !== undefined) headers['content-length'] = String(Buffer.byteLength(text))
  const method = more.method ?? (text === undefined ? 'GET' : 'POST')
  const answer = await send(url, { method, headers, body: text }).catch((error: Error) => {
    throw unreachable(url, error)
  })
  demandApi(options, answer.status, answer.headers, headers['accept'] === JSON_TYPE)
  if (answer.status >= 400) throw await refusal(options, answer.status, answer.text)
  return answer
}

const UNSENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPROTO',
])
const JSON_TYPE = 'application/json'

/** Throws where a page, a redirect or other words are the answer: the portal's, or those of another program. */
function demandApi(
  options: GlobalOptions,
  status: number,
  { 'content-type': type = JSON_TYPE }: IncomingHttpHeaders,
  wantsJson: boolean,
): void {
  // A proxy in front of the API has pages for its failures.
  if (status >= 500) return
  const isPage = type.startsWith('text/html') || (wantsJson && !type.includes('json'))
  if (!isPage && (status < 300 || status >= 400)) return
  throw notTheApi(options)
}

/** The title of the ingress, whose port has functions and workloads. */
const NO_ROUTE = 'route_not_found'

function notTheApi(options: GlobalOptions): CommandError {
  const { port } = localDataFolder(options) ?? {}
  const asked = baseUrlOf(options)
  const isKnown = port !== undefined && new URL(asked).port !== String(port)
  return new CommandError(
    `This is not the API: ${asked}`,
    EXIT.failed,
    isKnown ? `--base-url http://localhost:${port}` : 'give the address of the API with --base-url',
  )
}

const START = 'start it: npm start, or give another address: --base-url'
const ADDRESS = 'check the address: --base-url, ERGON_BASE_URL, or that of ergon login'

/** The reason why nothing answers at an address, and the next step. */
export function unreachable(url: string, error: Error & { code?: string }): Unreachable {
  // TLS gets bytes of another protocol.
  const [what, next] =
    error.code === 'EPROTO' && url.startsWith('https:')
      ? ['the service speaks http, not https', `--base-url http://${new URL(url).host}`]
      : [error.message || error.code, isThisMachine(hostOfUrl(new URL(url))) ? START : ADDRESS]
  const made = new Unreachable(`Could not reach ${url}: ${what}`, EXIT.failed, next, 'unreachable')
  made.isUnsent = UNSENT.has(error.code ?? '')
  return made
}

/** GETs a path and gives the bytes as they come, from an offset on; throws the same. */
export async function apiBytes(
  options: GlobalOptions,
  path: string,
  from = 0,
): Promise<AsyncIterable<Buffer>> {
  const url = `${baseUrlOf(options)}${path}`
  const headers = {
    authorization: `Bearer ${tokenOf(options)}`,
    ...(from > 0 && { range: `bytes=${from}-` }),
  }
  const response = await open(url, { method: 'GET', headers, body: undefined }).catch(
    (error: Error) => {
      throw unreachable(url, error)
    },
  )
  const { statusCode: status = 0 } = response
  demandApi(options, status, response.headers, false)
  if (status >= 400) throw await refusal(options, status, (await bytesOf(response)).toString())
  if (from > 0 && status !== 206)
    throw new CommandError(`Could not go on at byte ${from}: the service answered ${status}`)
  return response
}

/** Opens a request by node:http: undici takes 0.1 s of CPU to load, half of a command's; fetch refuses ports such as 10080. */
async function open(url: string, asked: SentRequest): Promise<IncomingMessage> {
  const { method, headers, body } = asked
  const { request } = url.startsWith('https:') ? await import('node:https') : http
  return await new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, timeout: TIMEOUT_MS, lookup: lookUp }, resolve)
    sent.on('error', reject)
    sent.on('timeout', () =>
      sent.destroy(new CommandError(`it said nothing for ${TIMEOUT_MS / 1000} seconds`)),
    )
    sent.end(body)
  })
}

/** Names below localhost, as the portal's, are this machine (RFC 6761, 6.3), which not every resolver knows. */
const lookUp: LookupFunction = (host, ...more) =>
  lookup(host.endsWith('.localhost') ? 'localhost' : host, ...more)

type SentRequest = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

async function send(url: string, asked: SentRequest): Promise<ApiAnswer> {
  const response = await open(url, asked)
  const bytes = await bytesOf(response)
  const { statusCode: status = 0, headers } = response
  return { status, bytes, text: bytes.toString(), headers }
}

/** The service refused: `problem` has the facts that it told. */
export class ApiRefusal extends CommandError {
  readonly status: number
  readonly problem: Readonly<Record<string, unknown>>
  constructor(
    { status, problem }: Pick<ApiRefusal, 'status' | 'problem'>,
    ...more: ConstructorParameters<typeof CommandError>
  ) {
    super(...more)
    this.status = status
    this.problem = problem
    this.requestId = typeof problem['instance'] === 'string' ? problem['instance'] : undefined
  }
}

async function refusal(
  options: GlobalOptions,
  status: number,
  text: string,
): Promise<CommandError> {
  const problem = parse(text) as Partial<
    Record<'detail' | 'instance' | 'title' | 'scope' | 'roles', string>
  >
  if (problem.title === NO_ROUTE) return notTheApi(options)
  const isUnpaid = status === 402 || problem.title === 'free_tier_exceeded'
  const exitCode = status === 401 ? EXIT.login : isUnpaid ? EXIT.payment : EXIT.failed
  const { title, instance, detail = `The service answered ${status}` } = problem
  const next = exitCode === EXIT.login ? loginStep(options) : scopeHelp(options, problem)
  // One step to take next, not two. The catalogue of errors is read for a refusal alone.
  const { unadvised } = await import('#contract/errors.ts')
  const said = next === undefined || title === undefined ? detail : unadvised(detail, title)
  // The operator looks a failure of the service up by its request.
  const id = instance === undefined || status < 500 ? '' : ` (${instance})`
  return new ApiRefusal({ status, problem }, `${said}${id}`, exitCode, next, title)
}

/** A member whose role has the scope makes such a token at the portal; another one asks those whose role has it. */
function scopeHelp(
  options: GlobalOptions,
  { scope, roles }: { scope?: string; roles?: string },
): string | undefined {
  if (scope === undefined) return undefined
  return roles === undefined
    ? `${loginCommand(options, scope)}, or the operator makes a token: ergon admin token create --scope ${scope}`
    : 'ergon members list'
}

function parse(text: string, otherwise: unknown = {}): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return otherwise
  }
}

type Line = { result?: unknown; error?: { code: string; message: string }; progress?: unknown }

/** Calls an operation of the operator; `onProgress` gets the lines before the answer. Rejects with a CommandError. */
export async function control<Name extends ControlName>(
  options: GlobalOptions,
  name: Name,
  request: ControlRequest<Name>,
  onProgress: (line: ControlLine<Name>) => void = () => undefined,
): Promise<ControlAnswer<Name>> {
  const { text, status } = await callUnix({
    path: `/${name}`,
    body: request,
    socketPath: controlSocketOf(options),
    onLine(line) {
      const { progress } = parse(line) as Line
      if (progress !== undefined) onProgress(progress as ControlLine<Name>)
    },
  }).catch((error: Error & { code?: string }) => {
    throw error.code === 'EACCES' ? notOwner() : notRunning(error)
  })
  const last = parse(text) as Line
  if (last.error !== undefined) throw controlRefusal(status, last.error)
  return last.result as ControlAnswer<Name>
}

/** The operator's operations that take a key. */
type KeyedName = {
  [Name in ControlName]: 'idempotency_key' extends keyof ControlRequest<Name> ? Name : never
}[ControlName]

/** Calls an operation of the operator that makes money, by `askOnce()`. Rejects with the same. */
export const controlOnce = <Name extends KeyedName>(
  options: GlobalOptions,
  name: Name,
  request: ControlRequest<Name>,
  look: string,
): Promise<ControlAnswer<Name>> =>
  askOnce((key) => control(options, name, { ...request, idempotency_key: key }), {
    isUnknown,
    look,
  })

const notOwner = () =>
  new CommandError(
    'The operator’s socket belongs to another user',
    EXIT.failed,
    'run it as the user who started Ergon',
  )

function notRunning(error: Error & { code?: string }): Unreachable {
  const made = new Unreachable(
    `Ergon does not run on this data folder: ${error.message}`,
    EXIT.failed,
    'npm start',
    'unreachable',
  )
  made.isUnsent = UNSENT.has(error.code ?? '')
  return made
}

const controlRefusal = (status: number, problem: { code: string; message: string }): ApiRefusal =>
  new ApiRefusal(
    { status, problem },
    `${problem.message} (${problem.code})`,
    EXIT.failed,
    undefined,
    problem.code,
  )
