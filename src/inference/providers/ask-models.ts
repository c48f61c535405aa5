// Asks a server for its models, GET /models with its key: whether anybody is there, takes the key, and has
// the model. It costs the server nothing, and says nothing of whether its answers will be good.
import type { ClientRequest, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { messageOf } from '#base/errors.ts'
import type { Secret } from '#base/log.ts'
import { request as httpRequest } from '#base/node-http.ts'

export type Server = { readonly baseUrl: string; readonly apiKey?: Secret }

export type ModelsAnswer =
  /** Nobody took the connection. */
  | { readonly reached: false; readonly why: string }
  | {
      readonly reached: true
      /** Absent when it said nothing in time. */
      readonly status?: number
      /** Names of its models, where it lists them. */
      readonly ids?: readonly string[]
    }

/** For the connection and the answer together: whoever adds a model waits for it. */
const ASK_MS_MAX = 2_000
const ANSWER_BYTES_MAX = 4 * 1024 * 1024

/** Never rejects, except with the signal's reason. */
export async function askModels(
  { baseUrl, apiKey }: Server,
  signal: AbortSignal,
): Promise<ModelsAnswer> {
  const url = new URL(`${baseUrl}/models`)
  const limit = AbortSignal.timeout(ASK_MS_MAX)
  // The agent asks too, once in a while: undici, or TLS before it is needed, would stay in its memory.
  const isSecure = url.protocol === 'https:'
  const send = isSecure ? process.getBuiltinModule('node:https').request : httpRequest
  const request = send(url, {
    agent: false,
    signal: AbortSignal.any([signal, limit]),
    headers: {
      accept: 'application/json',
      'user-agent': 'Ergon/1',
      ...(apiKey && { authorization: `Bearer ${apiKey.reveal()}` }),
    },
  })
  let reached = false
  const connected = isSecure ? 'secureConnect' : 'connect'
  request.once('socket', (socket) => socket.once(connected, () => (reached = true)))
  request.end()
  try {
    const response = await answerOf(request)
    return { reached: true, status: response.statusCode ?? 0, ...(await idsOf(response)) }
  } catch (error) {
    signal.throwIfAborted()
    if (reached) return { reached: true }
    const why = limit.aborted ? `no connection within ${ASK_MS_MAX / 1000} s` : messageOf(error)
    return { reached: false, why }
  } finally {
    request.destroy()
  }
}

const answerOf = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve)
    // A socket that is destroyed may fail once more.
    request.on('error', reject)
  })

async function idsOf(response: IncomingMessage): Promise<{ ids?: readonly string[] }> {
  if (response.statusCode !== 200) return {}
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) response.destroy()
  })
  try {
    const list = JSON.parse(await text(response)) as { data?: unknown } | null
    if (!Array.isArray(list?.data)) return {}
    const ids = list.data.map((model: { id?: unknown } | null) => model?.id)
    return { ids: ids.filter((id) => typeof id === 'string') }
  } catch {
    return {}
  }
}
