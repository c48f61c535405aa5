// A proxy between a test and the product that changes one figure of every answer: a test that stays
// green behind it tests nothing.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Figures = { status: number; headers: Record<string, string>; body: string }
export type Spoil = (answer: Figures) => void

const JOULES = 'x-energy-joules'
/** One more of its last digit. */
const changed = (figure = ''): string =>
  figure.slice(0, -1) + String((Number(figure.slice(-1)) + 1) % 10)

/** What a product could get wrong, one figure each. */
export const SPOILS: Readonly<Record<string, Spoil>> = {
  'the joules of the header are others': ({ headers }) => {
    headers[JOULES] = changed(headers[JOULES])
  },
  'the joules of the body are others': (answer) => {
    answer.body = answer.body.replace(
      /("energy_j":)([\d.]+)/,
      (_, name: string, figure: string) => name + changed(figure),
    )
  },
  'the status is another': (answer) => {
    answer.status = 203
  },
}

export type SpoilingProxy = AsyncDisposable & { readonly baseUrl: string }

/** Forwards to `target` and spoils what it answers, on a free port of the loopback. */
export async function openSpoilingProxy(target: string, spoil: Spoil): Promise<SpoilingProxy> {
  const server = createServer((request, response) => {
    const forward = async () => {
      const sent: Buffer[] = []
      for await (const piece of request as AsyncIterable<Buffer>) sent.push(piece)
      const { authorization = '', 'content-type': type = 'application/json' } = request.headers
      const { method = 'GET', url = '/' } = request
      const answer = await fetch(target + url, {
        method,
        headers: { authorization, 'content-type': type },
        ...(sent.length === 0 ? {} : { body: Buffer.concat(sent) }),
      })
      const headers = Object.fromEntries(answer.headers)
      for (const name of ['content-length', 'transfer-encoding', 'connection', 'keep-alive'])
        delete headers[name]
      const figures = { status: answer.status, headers, body: await answer.text() }
      spoil(figures)
      response.writeHead(figures.status, figures.headers).end(figures.body)
    }
    forward().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
