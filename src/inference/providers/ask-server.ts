// One probe of an upstream, beside the requests of callers: its status, or the failure of the connection. The agent
// sends probes too, and undici, or TLS before it is needed, would stay in its memory: so the probe uses node:http.
import type { ClientRequest, IncomingMessage } from 'node:http'
import { messageOf } from '#base/errors.ts'
import type { Secret } from '#base/log.ts'
import { request as httpRequest } from '#base/node-http.ts'

export type UpstreamServer = {
  readonly baseUrl: string
  readonly apiKey?: Secret
  /** The model that it is asked for, by the name that the server has for it. */
  readonly model: string
  readonly isEmbedding: boolean
}

export type ServerAnswer =
  /** Nobody took the connection. */
  | { readonly reached: false; readonly why: string }
  | {
      readonly reached: true
      /** Absent when it said nothing in time. */
      readonly status?: number
      /** Of its body; empty when it broke off, or was longer than 4 MiB. */
      readonly text: string
    }

const ANSWER_BYTES_MAX = 4 * 1024 * 1024
/** The connection has to come within this time, whatever an answer may take. */
const CONNECT_MS_MAX = 2_000
/** The operator of the server sees by it what is no request of a caller. */
export const PROBE_AGENT = 'Ergon/1 (probe)'

/** GETs the path below the server's address, or POSTs the body. Never rejects, except with the signal's reason. */
export async function askServer(
  { baseUrl, apiKey }: Pick<UpstreamServer, 'baseUrl' | 'apiKey'>,
  question: { readonly path: string; readonly body?: object; readonly answerMsMax: number },
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { path, body, answerMsMax } = question
  const url = new URL(`${baseUrl}${path}`)
  const limit = new AbortController()
  const isSecure = url.protocol === 'https:'
  const send = isSecure ? process.getBuiltinModule('node:https').request : httpRequest
  const request = send(url, {
    agent: false,
    method: body === undefined ? 'GET' : 'POST',
    signal: AbortSignal.any([signal, limit.signal]),
    headers: {
      accept: 'application/json',
      'user-agent': PROBE_AGENT,
      ...(body && { 'content-type': 'application/json' }),
      ...(apiKey && { authorization: `Bearer ${apiKey.reveal()}` }),
    },
  })
  let reached = false
  const unconnected = setTimeout(() => limit.abort(), CONNECT_MS_MAX)
  const unanswered = setTimeout(() => limit.abort(), answerMsMax)
  const connected = isSecure ? 'secureConnect' : 'connect'
  request.once('socket', (socket) =>
    socket.once(connected, () => {
      reached = true
      clearTimeout(unconnected)
    }),
  )
  request.end(body && JSON.stringify(body))
  try {
    const response = await answerOf(request)
    return { reached: true, status: response.statusCode ?? 0, text: await textOf(response) }
  } catch (error) {
    signal.throwIfAborted()
    if (reached) return { reached: true, text: '' }
    const isLate = limit.signal.aborted
    const why = isLate ? `no connection within ${CONNECT_MS_MAX / 1000} s` : messageOf(error)
    return { reached: false, why }
  } finally {
    clearTimeout(unconnected)
    clearTimeout(unanswered)
    request.destroy()
  }
}

const answerOf = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve)
    // A socket that is destroyed may fail once more.
    request.on('error', reject)
  })

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > ANSWER_BYTES_MAX) return ''
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch {
    return ''
  }
}
