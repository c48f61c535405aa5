// A process in the middle, for tests: passes calls on to a signer and meddles with what comes back.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** Gets the path and the reply; gives what to say instead, or undefined to cut the connection. */
export type Meddling = (path: string, reply: string) => string | undefined
/** `isHeard` says whether a call reaches the signer at all. */
type Between = { readonly reply?: Meddling; readonly isHeard?: (path: string) => boolean }

export async function meddleWith(
  signer: string,
  socket: string,
  { reply: meddling = (_, reply) => reply, isHeard = () => true }: Between,
): Promise<AsyncDisposable> {
  const server = createServer(async (asked, answer) => {
    if (!isHeard(asked.url ?? '')) return answer.destroy()
    const sent = request({
      socketPath: signer,
      path: asked.url ?? '',
      method: asked.method ?? 'GET',
    })
    sent.end(await buffer(asked))
    sent.once('error', () => answer.destroy())
    sent.once('response', async (reply) => {
      const text = meddling(asked.url ?? '', (await buffer(reply)).toString())
      if (text === undefined) return answer.destroy()
      answer.writeHead(reply.statusCode ?? 500).end(text)
    })
  })
  server.listen(socket)
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
