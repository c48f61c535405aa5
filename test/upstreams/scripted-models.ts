// Models behind upstreams that follow a script, in the product that the parts of a test share, and what
// their callers must be told and charged.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import {
  plainChunk,
  type Script,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { chargeOf, joulesOf } from '../books.ts'
import { energyHeaderFaults } from '../../acceptance/energy-headers.ts'
import { sharedErgon } from '../product.ts'
import { addUpstream, type UpstreamOptions } from '../upstreams.ts'

export const NJ_PER_TOKEN = 20_000_000n
export const NJ_PER_PROMPT_TOKEN = NJ_PER_TOKEN / 2n

const upstreams: ScriptedUpstream[] = []
let made = 0
/** Of what a part has made; in its `after`. */
export async function closeUpstreams(): Promise<void> {
  await Promise.all(upstreams.splice(0).map((upstream) => upstream.close()))
}

/** A model of its own for each test: what breaks one breaker leaves the others closed. */
export const model = async (script: Script, options: UpstreamOptions = {}): Promise<string> =>
  (await modelAndUpstream(script, options)).id

export async function modelAndUpstream(script: Script, options: UpstreamOptions = {}) {
  const id = `upstream-${made++}`
  const upstream = await addUpstream(sharedErgon(), id, {
    script,
    nj_per_token: String(NJ_PER_TOKEN),
    ...options,
  })
  upstreams.push(upstream)
  return { id, upstream }
}

/** Makes an upstream's silence short enough for a test, and waits until the gateway goes by it. */
export async function impatient(id: string): Promise<string> {
  const ergon = sharedErgon()
  const timeouts = JSON.stringify({ timeouts: { headersMs: 1000, idleMs: 1000 } })
  const change = (state: string) =>
    ergon.sql(
      `with changed as (update models set state = $2, provider = provider || $3::jsonb where id = $1)
       select pg_notify('ergon_models', '')`,
      [id, state, timeouts],
    )
  await change('loading')
  while ((await ergon.modelState(id)) !== 'loading') await pause(25)
  await change('ready')
  await ergon.waitForModel(id)
  return id
}

type PostOptions = {
  readonly token?: string
  readonly path?: string
  readonly signal?: AbortSignal
}
export function post(id: string, body: object = {}, options: PostOptions = {}): Promise<Response> {
  const path = options.path ?? '/v1/chat/completions'
  const input = path.endsWith('/embeddings')
    ? { input: ['a', 'b'] }
    : { messages: [{ role: 'user', content: 'Hello there, how are you?' }] }
  return fetch(sharedErgon().baseUrl + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${options.token ?? sharedErgon().token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: id, ...input, ...body }),
    signal: options.signal ?? null,
  })
}

export const receiptOf = (answer: Response) => answer.headers.get('x-receipt-id') ?? ''
export const upstreamEnergy = (charge: {
  parts: readonly { meter: string; energy_nj: string }[]
}) => BigInt(charge.parts.find(({ meter }) => meter.startsWith('upstream:'))?.energy_nj ?? 0)

export async function assertProblem(answer: Response, status: number, code: string): Promise<void> {
  const text = await answer.text()
  assert.equal(answer.status, status, text)
  const problem = JSON.parse(text) as { error: { code: string; type: string } }
  assert.equal(problem.error.code, code)
  assert.deepEqual(energyHeaderFaults(Object.fromEntries(answer.headers)), [])
  const charge = await chargeOf(sharedErgon(), receiptOf(answer))
  assert.equal(charge.status, status)
  assert.equal(charge.account, sharedErgon().account)
  assert.equal(answer.headers.get('x-energy-joules'), joulesOf(charge))
}

/** A stream that began with 200 and tells of `code` inside, the last thing before [DONE]. */
export async function assertCut(answer: Response, status: number, code: string) {
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('x-energy-estimate'), 'ceiling')
  const text = await answer.text()
  const events = text.split('\n\n').filter((event) => event !== '')
  assert.equal(events.at(-1), 'data: [DONE]')
  const last = JSON.parse(events.at(-2)?.slice('data: '.length) ?? '{}') as {
    error?: { code: string; message: string; type: string }
  }
  assert.equal(last.error?.code, code, text)
  const charge = await chargeOf(sharedErgon(), receiptOf(answer))
  assert.equal(charge.status, status)
  // Never more than the ceiling that the head stated.
  assert.ok(Number(answer.headers.get('x-energy-joules')) >= Number(joulesOf(charge)))
  return { charge, text }
}

export const head = { 'content-type': 'text/event-stream' }
export const json = { 'content-type': 'application/json' }
/** Sends pieces of an answer, then does something else. */
export const after2 =
  (then: (response: Parameters<Script>[1]) => void): Script =>
  (_asked, response) => {
    response.writeHead(200, head)
    response.write(plainChunk('Hello'))
    response.write(plainChunk(' world'))
    // The pieces must have gone out before what follows, as separate writes.
    setTimeout(() => then(response), 50)
  }
/** The same, but only once the caller has both pieces. */
export const afterSeen =
  (seen: Promise<void>, then: (response: Parameters<Script>[1]) => void): Script =>
  (_asked, response) => {
    response.writeHead(200, head)
    response.write(plainChunk('Hello') + plainChunk(' world'))
    void seen.then(() => then(response))
  }
/** An answer that tells when so much of it was read. */
export function telling(answer: Response, wanted: string, tell: () => void): Response {
  let text = ''
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      text += Buffer.from(chunk).toString()
      if (text.includes(wanted)) tell()
      controller.enqueue(chunk)
    },
  })
  return new Response(answer.body?.pipeThrough(watch), answer)
}
export const replies =
  (status: number, body: string, headers: Record<string, string> = json): Script =>
  (_asked, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }

/** Says a token every so often until its caller leaves. */
export const endless =
  (everyMs: number): Script =>
  (_asked, response) => {
    response.writeHead(200, head)
    const timer = setInterval(() => response.write(plainChunk(' token')), everyMs)
    response.on('close', () => clearInterval(timer))
    response.write(plainChunk('first'))
  }
