// A session of a second database, of an account of its own, which asks again and again: what happens to another
// database must not be felt here.
import assert from 'node:assert/strict'
import { sleep } from '#base/clock.ts'
import type { Ergon } from '../start-ergon.ts'
import { connectTo, until } from './driver.ts'

export interface Canary {
  readonly account: string
  /** The id of its database. */
  readonly database: string
  readonly answers: number
  /** The longest that an answer took, in ms. */
  readonly slowestMs: number
  /** Ends it; rejects with the first error that it met. */
  stop(): Promise<void>
}

const EVERY_MS = 100
const NAME = 'canary'
const ANSWER_MAX_MS = 20_000

export async function startCanary(ergon: Ergon): Promise<Canary> {
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', { account, scope: 'deploy' })
  const ask = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = body && { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`${ergon.baseUrl}/v1/databases${path}`, { headers, ...sent })
    return (await answer.json()) as { status: string; url: string }
  }
  await ask('', { name: NAME })
  await until('its database', async () => (await ask(`/${NAME}`)).status === 'deployed')
  const url = new URL((await ask(`/${NAME}/url`)).url)
  const client = await connectTo(url, { query_timeout: ANSWER_MAX_MS })
  const ending = new AbortController()
  let answers = 0
  let slowestMs = 0
  const running = (async () => {
    while (!ending.signal.aborted) {
      const begunMs = performance.now()
      const { rows } = await client.query<{ n: number }>('select $1::int as n', [answers])
      assert.equal(rows[0]?.n, answers++)
      slowestMs = Math.max(slowestMs, performance.now() - begunMs)
      await sleep(EVERY_MS, ending.signal).catch(() => undefined)
    }
  })()
  running.catch(() => undefined)
  return {
    account,
    database: `db_${url.username.slice(2)}`,
    get answers() {
      return answers
    },
    get slowestMs() {
      return slowestMs
    },
    async stop() {
      ending.abort()
      await running
      await client.end()
    },
  }
}
