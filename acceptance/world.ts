// The instance under test: an address and tokens. Everything else is asked through its API, and a test that needs what
// the instance does not offer is skipped by name.
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'

/** Where the instance is, and whose tokens ask it. */
export type Instance = {
  /** The address of the API, without `/v1` and without a slash at the end. */
  readonly baseUrl: string
  /** Of an account that can pay; scope deploy where buckets may be made. */
  readonly token: string
  /** Of an account that has spent its balance. */
  readonly depletedToken?: string | undefined
  /** Of an account without funds whose free joules are used up. */
  readonly unfundedToken?: string | undefined
  /** An S3 key as `access:secret`; the token is both where none is given. */
  readonly s3Key?: string | undefined
}

/** The offers of an instance, in words. */
const OFFERS = {
  chat: 'a model that chats',
  tools: 'a model that calls tools',
  embedding: 'a model of embeddings',
  storage: 'object storage',
  database: 'databases',
  depleted: 'a token of an empty balance',
  unfunded: 'a token of a used-up free tier',
}
type Offer = keyof typeof OFFERS
type Model = { id: string; modalities: string[]; tools: string; state: string; alias_of?: string }

const MODELS_MAX_MS = 120_000
const SEALED_MAX_MS = 60_000
export const TRIES_MAX = 10
const STILL = new Set(['loading'])

let opened: Instance | undefined
const offers: Partial<Record<Offer, string>> = {}

/** The instance that all tests of this process ask. */
export function instance(): Instance {
  if (opened === undefined) throw new TypeError('no instance: call openInstance() first')
  return opened
}

/**
 * Points the tests at an instance, once its models are loaded. Rejects where `least` is everything and the instance
 * does not offer something.
 */
export async function openInstance(
  given: Instance,
  least: 'anything' | 'everything' = 'anything',
): Promise<void> {
  opened = given
  const models = await loadedModels()
  const first = (fits: (model: Model) => boolean) =>
    models.find((model) => model.alias_of === undefined && model.state === 'ready' && fits(model))
      ?.id
  const found: Record<Offer, string | undefined> = {
    chat: first(({ modalities }) => modalities.includes('text')),
    tools: first(({ modalities, tools }) => modalities.includes('text') && tools !== 'none'),
    embedding: first(({ modalities }) => modalities.includes('embedding')),
    storage: (await call('/', { accept: 'application/xml' })).ok ? given.baseUrl : undefined,
    database: (await call('/v1/databases')).ok ? given.baseUrl : undefined,
    depleted: given.depletedToken,
    unfunded: given.unfundedToken,
  }
  for (const [name, value] of Object.entries(found))
    if (value !== undefined) offers[name as Offer] = value
    else if (least === 'everything') throw new Error(missingOf([name as Offer]))
}

const missingOf = (names: readonly Offer[]): string =>
  `the instance does not offer ${names.map((name) => OFFERS[name]).join(' and ')}`

async function loadedModels(): Promise<Model[]> {
  const deadline = performance.now() + MODELS_MAX_MS
  for (;;) {
    const answer = await call('/v1/models')
    if (!answer.ok) throw new Error(`GET /v1/models: ${answer.status} ${await answer.text()}`)
    const { data } = (await answer.json()) as { data: Model[] }
    if (!data.some(({ state }) => STILL.has(state)) || performance.now() > deadline) return data
    await pause(250)
  }
}

/** An offer of the instance: a model's id, a token, an address. */
export function offered(name: Offer): string {
  const value = offers[name]
  if (value === undefined) throw new TypeError(missingOf([name]))
  return value
}

/** A `test` that is skipped by name where the instance does not offer all of these. */
export const needing =
  (...names: readonly Offer[]) =>
  (title: string, body: () => Promise<void>): void =>
    void test(title, async (t) => {
      const missing = names.filter((name) => offers[name] === undefined)
      if (missing.length === 0) return await body()
      t.skip(missingOf(missing))
    })

/** `{base_url}/v1` and the token, as SDKs want them. */
export const key = () => ({ baseURL: `${instance().baseUrl}/v1`, apiKey: instance().token })

/**
 * Asks a path with the token; with a POST where there is a body and no method. A reply that asks to come again (503) is asked again,
 * as SDKs do.
 */
export async function call(
  path: string,
  {
    body,
    method = body === undefined ? 'GET' : 'POST',
    accept = 'application/json',
  }: { body?: object; method?: string; accept?: string } = {},
): Promise<Response> {
  const authorization = `Bearer ${instance().token}`
  const init: RequestInit = {
    method,
    headers: { authorization, 'content-type': 'application/json', accept },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
  for (let left = TRIES_MAX; ; left--) {
    const answer = await fetch(instance().baseUrl + path, init)
    if (answer.status !== 503 || left === 0) return answer
    await answer.body?.cancel()
    await pause(1000)
  }
}

/** The text of a receipt, once it is sealed. */
export async function receiptText(id: string, accept = 'application/json'): Promise<string> {
  const deadline = performance.now() + SEALED_MAX_MS
  for (;;) {
    const answer = await call(`/v1/receipts/${id}`, { accept })
    const text = await answer.text()
    if (answer.status === 200) return text
    // The charge itself reaches the ledger a moment after the reply.
    if (answer.status !== 404 && answer.status !== 202) throw new Error(`${id}: ${text}`)
    if (performance.now() > deadline) throw new Error(`${id} is not sealed: ${text}`)
    await pause(100)
  }
}

/** A charge as the log has it signed. */
export type SignedCharge = {
  readonly status: number
  readonly energy_nj: string
  readonly carbon_pg: string
}

export const chargeOn = async (receipt: string): Promise<SignedCharge> =>
  (JSON.parse(await receiptText(receipt)) as { charge: SignedCharge }).charge

/** A fetch that counts how often an SDK really asks. */
export function countingFetch(): { fetch: typeof fetch; count: () => number } {
  let count = 0
  return {
    fetch: (...asked) => {
      count++
      return fetch(...asked)
    },
    count: () => count,
  }
}

/** Everything that an iterator gives. */
export async function collect<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}

export const QUESTION = 'What is the capital of France?'
export const WEATHER_TOOL = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}

export const cosine = (a: readonly number[], b: readonly number[]): number => {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}
