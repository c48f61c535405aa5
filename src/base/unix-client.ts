// One call over a unix socket: every caller of ours asks by it.
import type * as Http from 'node:http'
import type { IncomingMessage } from 'node:http'
import { limitInterim } from './limit-interim.ts'
import { Agent, request } from './node-http.ts'

export type UnixCall = {
  readonly socketPath: string
  /** Path and query. */
  readonly path: string
  /** Default: POST with a body, GET without. */
  readonly method?: string
  /** Bytes, or a value that is sent as JSON. */
  readonly body?: object | undefined
  readonly signal?: AbortSignal
  /** The longest silence of the socket; `fault` makes the error. */
  readonly silence?: { readonly ms: number; readonly fault: () => Error }
  /** Default 16 MiB. */
  readonly bytesMax?: number
  /** Called with each line but the last as it comes; the answer's text is the last line then. */
  readonly onLine?: (line: string) => void
  /** Keeps connections (default: a connection of its own). */
  readonly connections?: UnixConnections
}
export type UnixAnswer = { readonly status: number; readonly text: string }

export interface UnixConnections {
  readonly agent: Http.Agent
  close(): void
}

const BYTES_MAX = 16 * 1024 * 1024

/** Connections that are kept for callers that ask again and again: a new one costs both ends as much as a call. */
export function keepConnections(max?: number): UnixConnections {
  const agent = new Agent({ keepAlive: true, ...(max === undefined ? {} : { maxSockets: max }) })
  return { agent, close: () => agent.destroy() }
}

/**
 * Resolves with the whole answer, whatever its status. Rejects with Node's error of the socket, or the signal's
 * reason.
 */
export function callUnix(call: UnixCall): Promise<UnixAnswer> {
  const { socketPath, path, body, signal, silence, connections } = call
  const bytes =
    body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  return new Promise((resolve, refuse) => {
    // Node.js has an AbortError of its own, or the broken connection.
    const reject = (error: Error) => refuse(signal?.aborted === true ? signal.reason : error)
    const sent = request({
      socketPath,
      path,
      method: call.method ?? (bytes === undefined ? 'GET' : 'POST'),
      agent: connections?.agent ?? false,
      headers:
        bytes === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': bytes.length },
      ...(signal && { signal }),
      ...(silence && { timeout: silence.ms }),
    })
    limitInterim(sent)
    sent.on('error', reject)
    sent.once('timeout', () => sent.destroy(silence?.fault()))
    sent.once('response', (response) => {
      readText(response, call).then(
        (text) => resolve({ status: response.statusCode ?? 0, text }),
        (error: Error) => {
          sent.destroy()
          reject(error)
        },
      )
    })
    sent.end(bytes)
  })
}

async function readText(
  response: IncomingMessage,
  { bytesMax = BYTES_MAX, onLine }: UnixCall,
): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const chunk of response as AsyncIterable<string>) {
    text += chunk
    if (onLine !== undefined) text = tellLines(text, onLine)
    if (text.length > bytesMax) throw new RangeError('The answer of the socket is too long')
  }
  return text
}

/** Tells every whole line that another one follows; what is left. */
function tellLines(text: string, onLine: (line: string) => void): string {
  const lines = text.split('\n')
  // The last line may end with the text.
  const left = lines.at(-1) === '' ? lines.slice(-2) : lines.slice(-1)
  for (const line of lines.slice(0, lines.length - left.length)) onLine(line)
  return left.join('\n')
}
