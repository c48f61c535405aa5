// An HTTP server for tests: it runs handlers over real HTTP in the order of the pipeline, each with a strict Spend,
// so that real clients can call them.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ErgonError, messageOf } from '#base/errors.ts'
import { printJoules } from '#base/units.ts'
import { chargeEnergy } from '#contract/ledger/charge.ts'
import { fault, openaiError } from '#contract/errors.ts'
import type { Handler, StreamedReply } from '#http/reply.ts'
import { callOf } from './offers.ts'
import { createStrictSpend, type StrictSpend } from './strict-spend.ts'

export type Binding = {
  readonly parse: (value: unknown) => unknown
  /** Handlers are contravariant in their body: the binding's own parse gives the right one. */
  readonly handle: (call: Parameters<Handler>[0]) => ReturnType<Handler>
}
export const bind = <Body>(parse: (value: unknown) => Body, handler: Handler<Body>): Binding => ({
  parse,
  handle: (call) => handler({ ...call, body: parse(call.body) }),
})

export type TestProtocol = {
  readonly baseUrl: string
  readonly spends: StrictSpend[]
  /** The energy at which `cut` fires for the next requests. */
  holdNj: bigint | undefined
  close(): void
}

export async function openTestProtocol(
  bindings: Readonly<Record<string, Binding>>,
): Promise<TestProtocol> {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const binding = bindings[`${request.method} ${request.url}`]
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    const spend = createStrictSpend(opened.holdNj === undefined ? {} : { holdNj: opened.holdNj })
    opened.spends.push(spend)
    try {
      if (binding === undefined) throw fault('not_found', `Could not find ${request.url}`)
      const text = Buffer.concat(parts).toString('utf8')
      const call = callOf(text === '' ? undefined : (JSON.parse(text) as unknown), spend)
      response.once('close', () => call.leave())
      const reply = await binding.handle(call)
      if (reply.kind === 'streamed') return await stream(reply, spend, response)
      const charge = spend.settle(reply.status)
      response.writeHead(reply.status, {
        'content-type': 'application/json',
        'x-energy-joules': printJoules(chargeEnergy(charge)),
        ...reply.headers,
      })
      response.end(reply.body(charge))
    } catch (error) {
      const known = error instanceof ErgonError ? error : fault('internal', messageOf(error))
      spend.settle(known.status)
      response.writeHead(known.status, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ error: openaiError(known) }))
    }
  }
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const opened: TestProtocol = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    spends: [],
    holdNj: undefined,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return opened
}

async function stream(reply: StreamedReply, spend: StrictSpend, response: ServerResponse) {
  response.writeHead(reply.status, { 'content-type': reply.contentType, ...reply.headers })
  try {
    for await (const chunk of reply.chunks) response.write(chunk)
    response.end(reply.last(spend.settle(200)))
  } catch (error) {
    const known = error instanceof ErgonError ? error : fault('internal', messageOf(error))
    response.end(reply.cut(known, spend.settle(known.status)))
  }
}
