// Reads small JSON documents from devices and data services: one connection kept open, every answer
// bounded in time and size, redirects refused (a plug that redirects is not the plug).
import type { Dispatcher } from 'undici'
import { messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'

const TIMEOUT_MS = 700
const BYTES_MAX = 1_048_576

export interface JsonReader {
  /** The parsed body of a 200. Throws upstream_failed or upstream_timeout, never anything else. */
  get(url: URL, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<unknown>
  close(): Promise<void>
}

export function createJsonReader(
  options: {
    readonly timeoutMs?: number
    readonly bytesMax?: number
    /** PEM of the authority of a device with a certificate of its own. */
    readonly ca?: string
  } = {},
): JsonReader {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const bytesMax = options.bytesMax ?? BYTES_MAX
  const connect = { timeout: timeoutMs, ...(options.ca === undefined ? {} : { ca: options.ca }) }
  // Loading it takes 180 ms of CPU: not in an agent that asks nobody.
  const opened = import('undici').then(({ Agent }) => new Agent({ connections: 1, connect }))
  return {
    async get(url, headers, signal) {
      const agent = await opened
      const limit = AbortSignal.timeout(timeoutMs)
      const within = signal === undefined ? limit : AbortSignal.any([signal, limit])
      try {
        const answer = await agent.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'GET',
          headers: { accept: 'application/json', ...headers },
          signal: within,
        })
        return await jsonOf(answer, bytesMax)
      } catch (cause) {
        const code = limit.aborted ? 'upstream_timeout' : 'upstream_failed'
        const reason = limit.aborted ? `no answer in ${timeoutMs} ms` : messageOf(cause)
        throw fault(code, `Could not read ${url.origin}${url.pathname}: ${reason}`, { cause })
      }
    },
    close: async () => (await opened).destroy(),
  }
}

async function jsonOf(answer: Dispatcher.ResponseData, bytesMax: number): Promise<unknown> {
  if (answer.statusCode !== 200) {
    await answer.body.dump()
    throw new RangeError(`HTTP ${answer.statusCode}`)
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bytesMax) throw new RangeError(`more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

/** The value at a path of keys and indices, or undefined. */
export function valueAt(json: unknown, path: readonly (string | number)[]): unknown {
  let value = json
  for (const key of path) {
    if (value === null || typeof value !== 'object') return undefined
    value = (value as Readonly<Record<string | number, unknown>>)[key]
  }
  return value
}
