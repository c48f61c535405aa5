// A receiver of webhooks, written from "Signature verification" of the interface alone: it imports nothing of the product.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

const TOLERANCE_S = 300

export type Received = {
  /** When it arrived. */
  readonly atS: number
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly raw: string
  readonly body: {
    readonly event: string
    readonly event_id: string
    readonly occurred_at: string
    readonly data: Readonly<Record<string, unknown>> & {
      readonly account_id: string
      readonly sequence: number
    }
  }
}

/** Answers a request that was read; by default 200. */
export type Answer = (received: Received, response: ServerResponse) => void

export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Everything that arrived, signed or not. */
  readonly received: readonly Received[]
  answer: Answer
  /** Resolves with the first request that fits, also of those that are there. */
  first(what: string, fits: (received: Received) => boolean): Promise<Received>
}

const OK: Answer = (_, response) => void response.end('thanks')
const WAIT_MS = 60_000

export async function startReceiver(address = '127.0.0.1'): Promise<Receiver> {
  const received: Received[] = []
  const wakes = new Set<() => void>()
  const server = createServer((request, response) => {
    void buffer(request)
      .then((bytes) => {
        const raw = bytes.toString()
        const one: Received = {
          atS: Date.now() / 1000,
          path: request.url ?? '',
          headers: request.headers,
          raw,
          body: JSON.parse(raw) as Received['body'],
        }
        received.push(one)
        for (const wake of wakes) wake()
        receiver.answer(one, response)
      })
      .catch(() => response.destroy())
  })
  server.listen(0, address)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://${address}:${port}/events`,
    port,
    received,
    answer: OK,
    async first(what, fits) {
      const limit = AbortSignal.timeout(WAIT_MS)
      for (;;) {
        const found = received.find(fits)
        if (found !== undefined) return found
        await new Promise<void>((resolve, reject) => {
          const wake = () => {
            wakes.delete(wake)
            resolve()
          }
          wakes.add(wake)
          limit.addEventListener('abort', () => reject(new TypeError(`nothing came: ${what}`)))
        })
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

/** Why a request is not genuine, in words; undefined when it is. */
export function faultOf({ headers, raw, atS }: Received, secret: string, nowS = atS) {
  const parts = String(headers['x-svc-signature']).split(',')
  const t = parts.find((part) => part.startsWith('t='))?.slice(2)
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  if (t === undefined || signatures.length === 0) return 'the header has no t or no v1'
  if (Math.abs(nowS - Number(t)) > TOLERANCE_S) return 'it is too old'
  const expected = Buffer.from(createHmac('sha256', secret).update(`${t}.${raw}`).digest('hex'))
  const fits = signatures.some((signature) => {
    const given = Buffer.from(signature)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  return fits ? undefined : 'no v1 is right'
}
