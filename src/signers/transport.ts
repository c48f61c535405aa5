// One signer as the coordinator calls it: HTTP on its unix socket, every call with a deadline.
import type { IncomingMessage } from 'node:http'
import { ErgonError, messageOf } from '#base/errors.ts'
import { Agent, request } from '#base/node-http.ts'
import { fault } from '#contract/errors.ts'
import type { RefusalReply } from './wire.ts'

export type Transport = {
  /** POSTs JSON or bytes, or GETs when there is no body, and gives the JSON that comes back. */
  call(path: string, body: object | undefined, limits: Limits): Promise<unknown>
  close(): void
}
/** `timeoutMs` is how long a signer may be silent. */
export type Limits = { readonly timeoutMs: number; readonly signal: AbortSignal }

const REPLY_BYTES_MAX = 1_048_576
// One call at a time in each direction: a sign and a catch-up.
const CONNECTIONS_MAX = 2

export function createTransport(socketPath: string): Transport {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX })
  return {
    close: () => agent.destroy(),
    async call(path, body, { timeoutMs, signal }) {
      signal.throwIfAborted()
      const deadline = AbortSignal.timeout(timeoutMs)
      let reply: { status: number; text: string }
      try {
        reply = await exchange(body, {
          socketPath,
          path,
          agent,
          signal: AbortSignal.any([signal, deadline]),
        })
      } catch (cause) {
        signal.throwIfAborted()
        const why = deadline.aborted ? `no answer in ${timeoutMs} ms` : messageOf(cause)
        throw fault('signer_silent', `Could not reach the signer at ${socketPath}: ${why}`, {
          cause,
        })
      }
      const value: unknown = JSON.parse(reply.text)
      if (reply.status === 200) return value
      const { code, message, details } = value as RefusalReply
      throw new ErgonError({ code, status: reply.status }, message, { details })
    },
  }
}

type Target = {
  socketPath: string
  path: string
  agent: InstanceType<typeof Agent>
  signal: AbortSignal
}

function exchange(
  body: object | undefined,
  target: Target,
): Promise<{ status: number; text: string }> {
  const bytes =
    Buffer.isBuffer(body) || body === undefined ? body : Buffer.from(JSON.stringify(body))
  return new Promise((resolve, reject) => {
    const sent = request({
      ...target,
      method: bytes === undefined ? 'GET' : 'POST',
      headers: bytes === undefined ? {} : { 'content-length': bytes.length },
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      readText(response).then(
        (text) => resolve({ status: response.statusCode ?? 0, text }),
        (error: unknown) => {
          sent.destroy()
          reject(error)
        },
      )
    })
    sent.end(bytes)
  })
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const chunk of response as AsyncIterable<string>) {
    text += chunk
    if (text.length > REPLY_BYTES_MAX) throw new RangeError('The reply of a signer is too long')
  }
  return text
}
