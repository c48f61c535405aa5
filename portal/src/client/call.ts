// One call of the public API, on the portal's own origin: the session's cookie goes with it.
import type { InputOf, Key, ReplyOf } from './operations.ts'
import { problemOf, unreachable } from './problem.ts'

const CALL_TIMEOUT_MS = 30_000

type Loose = {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** Calls an operation by its method and path. Throws Problem. */
export async function call<K extends Key>(key: K, input: InputOf<K>): Promise<ReplyOf<K>> {
  const response = await send(key, input)
  return (response.status === 204 ? undefined : await response.json()) as ReplyOf<K>
}

/** The same, with the answer as it comes: streams and texts. */
export async function send<K extends Key>(
  key: K,
  input: InputOf<K>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { signal, body } = input as Loose
  const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS)
  const isStream = body !== undefined && (body as { stream?: boolean }).stream === true
  const response = await fetch(addressOf(key, input), {
    method: key.slice(0, key.indexOf(' ')),
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: isStream
      ? (signal ?? null)
      : signal === undefined
        ? timeout
        : AbortSignal.any([signal, timeout]),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw unreachable()
  })
  if (!response.ok) throw await problemOf(response)
  return response
}

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
