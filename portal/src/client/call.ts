// One call of the public API, on the portal's own origin: the session's cookie goes with it.
import type { InputOf, Key, ReplyOf } from './operations.ts'
import { createKeys, isOpen } from './keys.ts'
import { isSignedOut, jsonOf, problemOf, unreachable } from './problem.ts'
import { tellSignedOut } from './signed-out.ts'

const CALL_TIMEOUT_MS = 30_000

type Loose = {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

const keys = createKeys()
const SESSION: Key = 'GET /v1/session'

/** Calls an operation by its method and path. Throws Problem. */
export async function call<K extends Key>(key: K, input: InputOf<K>): Promise<ReplyOf<K>> {
  const response = await send(key, input)
  return (response.status === 204 ? undefined : await jsonOf(response)) as ReplyOf<K>
}

/** The same, with the answer as it comes: streams and texts. */
export async function send<K extends Key>(
  key: K,
  input: InputOf<K>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { signal, body } = input as Loose
  const request = {
    method: key.slice(0, key.indexOf(' ')),
    address: addressOf(key, input),
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
    isStream: body !== undefined && (body as { stream?: boolean }).stream === true,
  }
  try {
    const isMaking = request.method === 'POST' && !request.isStream
    return await (isMaking ? answerOnce(request) : answerOf(request))
  } catch (error) {
    if (isSignedOut(error) && key !== SESSION) tellSignedOut()
    throw error
  }
}

type Request = {
  readonly method: string
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** The signal of the caller. */
  readonly signal: AbortSignal | undefined
  readonly isStream: boolean
}

/** The whole answer of a request that makes or pays something, under one key until its outcome is known. */
async function answerOnce(request: Request): Promise<Response> {
  const action = `${request.address}\n${request.body ?? ''}`
  try {
    const headers = { ...request.headers, 'idempotency-key': keys.of(action) }
    const response = await answerOf({ ...request, headers })
    await orUnreachable(response.clone().arrayBuffer(), request.signal)
    keys.settle(action)
    return response
  } catch (error) {
    if (!isOpen(error)) keys.settle(action)
    throw error
  }
}

async function answerOf(request: Request): Promise<Response> {
  const { method, address, headers, body, signal, isStream } = request
  const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS)
  const answer = fetch(address, {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    signal: isStream
      ? (signal ?? null)
      : signal === undefined
        ? timeout
        : AbortSignal.any([signal, timeout]),
  })
  const response = await orUnreachable(answer, signal)
  if (!response.ok) throw await problemOf(response)
  return response
}

/** A lost connection is a Problem; what the caller stopped is not. */
const orUnreachable = <Value>(
  answer: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> =>
  answer.catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw unreachable()
  })

/** The path with its places filled and its query, without host. */
export function addressOf<K extends Key>(key: K, input: InputOf<K>): string {
  const { path = {}, query = {} } = input as Loose
  const filled = key
    .slice(key.indexOf(' ') + 1)
    .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(path[name] ?? ''))
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  )
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given).toString()}`
}
