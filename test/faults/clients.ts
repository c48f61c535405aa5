// Clients that call an Ergon without a pause and keep every X-Receipt-Id that reached them: each must be found
// afterwards, whatever was killed meanwhile.
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const CALL_MAX_MS = 15_000
// Between two calls of one client: the rounds are about kills, not about speed, and each answer is a receipt
// to be fetched and verified afterwards.
const THINK_MS = 50
const AFTER_FAILURE_MS = 50

export type Clients = {
  /** Each receipt id that a client has read in a head, with the calls that it came with. */
  readonly receipts: ReadonlyMap<string, readonly string[]>
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>
  /** Connections that were refused or broke off before a head. */
  readonly broken: number
  /** Answers without a receipt id, in words. */
  readonly bare: readonly string[]
  stop(): Promise<void>
}

type Call = {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  readonly token: boolean
}

const ask = (more: object) => ({
  model: 'auto',
  max_tokens: 3,
  messages: [{ role: 'user', content: 'Say yes.' }],
  ...more,
})
const PLAIN: readonly Call[] = [
  { name: 'models', method: 'GET', path: '/v1/models', token: true },
  { name: 'usage', method: 'GET', path: '/v1/usage/last', token: true },
  { name: 'no token', method: 'GET', path: '/v1/models', token: false },
  { name: 'no route', method: 'GET', path: '/v1/nothing', token: true },
]
const INFERENCE: readonly Call[] = [
  {
    name: 'embedding',
    method: 'POST',
    path: '/v1/embeddings',
    body: { model: 'all-minilm-l6-v2', input: 'a sentence' },
    token: true,
  },
  { name: 'chat', method: 'POST', path: '/v1/chat/completions', body: ask({}), token: true },
  {
    name: 'stream',
    method: 'POST',
    path: '/v1/chat/completions',
    body: ask({ stream: true, max_tokens: 12 }),
    token: true,
  },
]

/** Starts `count` clients; each goes through all kinds of calls, from another place in the list. */
export function startClients(
  target: { readonly port: number; readonly token: string },
  { count, inference }: { count: number; inference: boolean },
): Clients {
  const calls = inference ? [...PLAIN, ...INFERENCE] : PLAIN
  const receipts = new Map<string, string[]>()
  const statuses = new Map<number, number>()
  const bare: string[] = []
  const stopping = new AbortController()
  let broken = 0

  function heard(call: Call, { statusCode = 0, headers }: IncomingMessage): void {
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
    const id = headers['x-receipt-id']
    if (typeof id !== 'string') bare.push(`${call.name} ${statusCode}`)
    else receipts.set(id, [...(receipts.get(id) ?? []), `${call.name} ${statusCode}`])
  }

  async function client(first: number): Promise<void> {
    // One connection each: a second request on it must work after whatever befell the first.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let turn = first; !stopping.signal.aborted; turn++) {
      const call = calls[turn % calls.length] as Call
      const answered = await send({ ...target, agent }, call, (response) => heard(call, response))
      if (!answered) broken++
      await pause(answered ? THINK_MS : AFTER_FAILURE_MS)
    }
    agent.destroy()
  }
  const running = Promise.all(Array.from({ length: count }, (_, number) => client(number)))
  return {
    receipts,
    statuses,
    bare,
    get broken() {
      return broken
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** True when a head arrived. The body may break off: the client got the id all the same. */
function send(
  target: { readonly port: number; readonly token: string; readonly agent: Agent },
  call: Call,
  heard: (response: IncomingMessage) => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    let answered = false
    const sent = request({
      host: '127.0.0.1',
      port: target.port,
      agent: target.agent,
      method: call.method,
      path: call.path,
      signal: AbortSignal.timeout(CALL_MAX_MS),
      headers: {
        ...(call.token ? { authorization: `Bearer ${target.token}` } : {}),
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    })
    sent.once('response', (response) => {
      answered = true
      heard(response)
      response.once('error', () => resolve(true))
      response.once('close', () => resolve(true))
      response.resume()
    })
    sent.once('error', () => resolve(answered))
    sent.end(call.body === undefined ? undefined : JSON.stringify(call.body))
  })
}
