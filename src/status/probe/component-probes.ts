// The requests that probe each component. They resolve with their answers, or throw: NotProbed where the component is not
// there or the caller may not ask, any other error where the service failed.
import { randomBytes } from 'node:crypto'
import { sleep } from '#base/clock.ts'
import { Failure } from '#base/errors.ts'
import type { ProbedComponent } from '#contract/status/probe-components.ts'
import type { Queryable } from '#state/connect.ts'
import type { Api, ApiRequest, ProbeAnswer } from './api.ts'

const OBJECT_BYTES = 1024
const ANSWER_TOKENS = 16
const RECEIPT_MS_MAX = 60_000
const RECEIPT_AGAIN_MS = 500
const DATABASE = 'probe'

/** The component was not asked, or the answer says nothing of the service. The message is the reason. */
export class NotProbed extends Error {}

export type ProbeContext = {
  readonly api: Api
  /** Lists the parts to ask, which costs the account nothing. */
  readonly state: Queryable
  /** The operator's. */
  readonly account: string
  /** The bucket of its objects. */
  readonly bucket: string
  readonly signal: AbortSignal
}
type ComponentProbe = (questioner: ProbeContext) => Promise<readonly ProbeAnswer[]>

export const COMPONENT_PROBES: Readonly<Record<ProbedComponent, ComponentProbe>> = {
  api: async (by) => [await ask(by, { method: 'GET', path: '/v1/models' })],
  inference: async (by) => {
    const messages = [{ role: 'user', content: 'What is the capital of France?' }]
    const body = { model: await readyModel(by, 'text'), messages, max_tokens: ANSWER_TOKENS }
    return [await ask(by, { method: 'POST', path: '/v1/chat/completions', body })]
  },
  embeddings: async (by) => {
    const body = { model: await readyModel(by, 'embedding'), input: 'The capital of France' }
    return [await ask(by, { method: 'POST', path: '/v1/embeddings', body })]
  },
  storage: askStorage,
  databases: async (by) => {
    await demandDatabase(by)
    const path = `/v1/databases/${DATABASE}/query`
    return [await ask(by, { method: 'POST', path, body: { sql: 'select 1' } })]
  },
  ledger: async (by) => [await ask(by, { method: 'GET', path: '/v1/balance' })],
  receipts: askReceipt,
}

/**
 * The first model of this node that is loaded and serves the operation; a model of an upstream would cost the operator
 * money.
 */
async function readyModel(
  { state }: ProbeContext,
  modality: 'text' | 'embedding',
): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    `select id from models where state = 'ready' and provider ? 'socket' and offer -> 'modalities' ? $1
     order by position, id limit 1`,
    [modality],
  )
  const kind = modality === 'text' ? 'chat' : 'embedding'
  if (rows[0] === undefined) throw new NotProbed(`no ${kind} model of this node is ready`)
  return rows[0].id
}

async function demandDatabase({ state, account }: ProbeContext): Promise<void> {
  const { rowCount } = await state.query(
    `select from resources
     where account = $1 and kind = 'database' and name = $2 and desired = 'deployed'`,
    [account, DATABASE],
  )
  if (rowCount === 0)
    throw new NotProbed(`the operator's account has no database named "${DATABASE}" that may run`)
}

async function askStorage(by: ProbeContext): Promise<readonly ProbeAnswer[]> {
  const path = `/${by.bucket}/probe`
  const body = randomBytes(OBJECT_BYTES)
  const put = { method: 'PUT', path, body }
  let stored = await ask(by, put, [404])
  if (stored.status === 404) {
    await ask(by, { method: 'PUT', path: `/${by.bucket}` })
    stored = await ask(by, put)
  }
  const read = await ask(by, { method: 'GET', path })
  if (read.text !== body.toString()) throw new Failure('the object came back with other bytes')
  return [stored, read, await ask(by, { method: 'DELETE', path })]
}

async function askReceipt(by: ProbeContext): Promise<readonly ProbeAnswer[]> {
  const asked = await ask(by, { method: 'GET', path: '/v1/balance' })
  const answers = [asked]
  const signal = AbortSignal.any([by.signal, AbortSignal.timeout(RECEIPT_MS_MAX)])
  for (;;) {
    const answer = await ask(by, { method: 'GET', path: `/v1/receipts/${asked.receipt}` })
    answers.push(answer)
    if (answer.status !== 202) return answers
    await sleep(RECEIPT_AGAIN_MS, signal)
  }
}

/** An answer below 400, or one of these statuses. */
async function ask(
  { api, signal }: ProbeContext,
  asked: ApiRequest,
  others: readonly number[] = [],
): Promise<ProbeAnswer> {
  const answer = await api(asked, signal)
  const { status, text } = answer
  if (status < 400 || others.includes(status)) return answer
  const words = `${asked.method} ${asked.path} was answered with ${status} ${codeOf(text)}`.trim()
  throw status < 500 ? new NotProbed(words) : new Failure(words)
}

/** The code of a problem document, or of an error of S3. */
const codeOf = (text: string): string =>
  /"code":\s*"(\w+)"/.exec(text)?.[1] ?? /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? ''
