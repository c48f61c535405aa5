// One signer as the coordinator calls it: HTTP on its unix socket, every call with a deadline.
import { ErgonError, messageOf } from '#base/errors.ts'
import { callUnix, keepConnections, type UnixAnswer } from '#base/unix-client.ts'
import { fault } from '#contract/errors.ts'
import type { RefusalReply } from './wire.ts'

export type Transport = {
  /** POSTs JSON or bytes, or GETs when there is no body, and gives the JSON that comes back. */
  call(path: string, body: object | undefined, limits: SignerLimits): Promise<unknown>
  close(): void
}
/** `timeoutMs` is how long a signer may be silent. */
export type SignerLimits = { readonly timeoutMs: number; readonly signal: AbortSignal }

const REPLY_BYTES_MAX = 1_048_576
// One call at a time in each direction: a sign and a catch-up.
const CONNECTIONS_MAX = 2

export function createTransport(socketPath: string): Transport {
  const connections = keepConnections(CONNECTIONS_MAX)
  return {
    close: connections.close,
    async call(path, body, { timeoutMs, signal }) {
      signal.throwIfAborted()
      const deadline = AbortSignal.timeout(timeoutMs)
      let reply: UnixAnswer
      try {
        reply = await callUnix({
          socketPath,
          path,
          body,
          connections,
          bytesMax: REPLY_BYTES_MAX,
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
