// What the clients' tests share: a running product with the default models, and accounts in each state.
// Black box: nothing here imports the product.
import type { Ergon } from '../test/start-ergon.ts'

export const CHAT_MODEL = 'smollm2-135m-instruct'
export const EMBEDDING_MODEL = 'all-minilm-l6-v2'

export type World = {
  readonly ergon: Ergon
  /** `{base_url}/v1`, as SDKs want it. */
  readonly baseURL: string
  readonly apiKey: string
  /** Tokens of accounts that cannot pay. */
  readonly depleted: string
  readonly freeloader: string
}

/** Of a product that serves the default models and has no free tier. */
export async function createWorld(ergon: Ergon): Promise<World> {
  for (const model of [CHAT_MODEL, EMBEDDING_MODEL, `${EMBEDDING_MODEL}-1536`])
    await ergon.waitForModel(model)
  return {
    ergon,
    baseURL: `${ergon.baseUrl}/v1`,
    apiKey: ergon.token,
    depleted: await depletedToken(ergon),
    freeloader: (await newAccount(ergon)).token,
  }
}

async function newAccount(ergon: Ergon): Promise<{ id: string; token: string }> {
  const { id } = await ergon.control<{ id: string }>('POST', '/accounts', { env: 'test' })
  const { token } = await ergon.control<{ token: string }>('POST', '/tokens', { account: id })
  return { id, token }
}

/** The token of an account that has spent what it had. */
async function depletedToken(ergon: Ergon): Promise<string> {
  const { id, token } = await newAccount(ergon)
  await ergon.control('POST', `/accounts/${id}/funds`, { pusd: '100' })
  for (let left = 100; left > 0; left--) {
    const answer = await fetch(`${ergon.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    })
    await answer.body?.cancel()
    if (answer.status === 402) return token
  }
  throw new Error('the balance does not run out')
}

/** A fetch that counts: how often an SDK really asked. */
export function countingFetch(): { fetch: typeof fetch; count: () => number } {
  let count = 0
  return {
    fetch: (...call) => {
      count++
      return fetch(...call)
    },
    count: () => count,
  }
}

/** All that an iterator gives. */
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
