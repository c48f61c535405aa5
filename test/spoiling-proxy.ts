// A proxy between a test and the product that changes one figure of every answer: a test that passes behind it tests
// nothing.
import { once } from 'node:events'
import { createServer, request as ask, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Headers = Record<string, string>
type Figures = { status: number; headers: Headers; body: string; trailers: Headers }
export type Spoil = (answer: Figures) => void

const JOULES = 'x-energy-joules'
/** The figure with another last digit. */
const changed = (figure = ''): string =>
  figure.slice(0, -1) + String((Number(figure.slice(-1)) + 1) % 10)
const change = (headers: Headers): void => {
  if (JOULES in headers) headers[JOULES] = changed(headers[JOULES])
}

/** One wrong figure each, of any answer. */
export const SPOILS: Readonly<Record<string, Spoil>> = {
  'the joules of the header are others': ({ headers }) => change(headers),
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

/** For streams: the final figure is in the trailers. */
export const SPOILT_TRAILER: Spoil = ({ trailers }) => change(trailers)

export type SpoilingProxy = AsyncDisposable & { readonly baseUrl: string }

/** Forwards to `target` and spoils the answers, on a free port of the loopback. */
export async function openSpoilingProxy(target: string, spoil: Spoil): Promise<SpoilingProxy> {
  const server = createServer((request, response) => {
    const forward = async () => {
      const { method, url = '/', headers } = request
      // A connection of its own: a kept one may be closed just when it is used again.
      const own = { ...headers, connection: 'close' }
      const asked = ask(target + url, { method, headers: own, agent: false })
      request.pipe(asked)
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      const body = await text(answer)
      const figures = {
        status: answer.statusCode ?? 0,
        headers: asHeaders(answer.headers),
        body,
        trailers: asHeaders(answer.trailers),
      }
      spoil(figures)
      // Node computes the framing anew, and trailers need chunks.
      for (const name of ['content-length', 'transfer-encoding', 'connection', 'keep-alive'])
        delete figures.headers[name]
      response.writeHead(figures.status, figures.headers)
      response.write(figures.body)
      response.addTrailers(figures.trailers)
      response.end()
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

const asHeaders = (headers: IncomingMessage['headers']): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
