// The rate of a token as real SDKs meet it: they wait as long as they are asked to, and get their answers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import OpenAI from 'openai'
import { fetchOnce } from '../patient-fetch.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const PER_MINUTE = 120
const ROUNDS_MAX = 10
const EACH_MS = 60_000 / PER_MINUTE
const CALLERS = 6

/** A token of a new account, whose requests of this minute are sent. */
async function usedToken(): Promise<string> {
  const ergon = sharedErgon()
  const { id: account } = await ergon.control('account.create', {})
  const { token } = await ergon.control('token.create', { account, scope: 'billing-admin' })
  const authorization = `Bearer ${token}`
  const made = await fetch(`${ergon.baseUrl}/v1/tokens`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'sdk', scope: 'deploy', requests_per_minute: PER_MINUTE }),
  })
  const { token: limited } = (await made.json()) as { token: string }
  const headers = { authorization: `Bearer ${limited}` }
  for (;;) {
    const answer = await fetchOnce(`${ergon.baseUrl}/v1/models`, { headers })
    await answer.arrayBuffer()
    if (answer.status === 429) return limited
    assert.equal(answer.status, 200)
  }
}

test('clients of the openai package that are refused together are answered one after the other', async () => {
  const apiKey = await usedToken()
  const statuses: number[] = []
  const client = new OpenAI({
    apiKey,
    baseURL: `${sharedErgon().baseUrl}/v1`,
    async fetch(input, init) {
      const answer = await fetchOnce(input, init)
      statuses.push(answer.status)
      return answer
    },
  })
  const startMs = performance.now()
  await Promise.all(Array.from({ length: CALLERS }, async () => await client.models.list()))
  const tookMs = performance.now() - startMs
  assert.equal(statuses.filter((status) => status === 200).length, CALLERS)
  // The bucket may have regained a request before the first retry came, and a timer may fire early.
  const again = statuses.filter((status) => status === 429).length
  assert.ok(again <= CALLERS + 2, `they hammer: ${statuses.join(' ')}`)
  assert.ok(tookMs >= (CALLERS - 1) * EACH_MS * 0.9, `${tookMs}`)
})

test('the S3 SDK is told SlowDown, waits, and gets its answer', async () => {
  const token = await usedToken()
  const client = new S3Client({
    endpoint: sharedErgon().baseUrl,
    region: 'local',
    forcePathStyle: true,
    credentials: { accessKeyId: token, secretAccessKey: token },
    maxAttempts: 5,
  })
  const statuses: number[] = []
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      statuses.push((result.response as { statusCode: number }).statusCode)
      return result
    },
    { step: 'deserialize', priority: 'low' },
  )
  // Three at once, and again where a slow machine took so long for them that the bucket had room.
  let sent = 0
  while (!statuses.includes(503) && sent < 3 * ROUNDS_MAX) {
    const three = Array.from({ length: 3 }, () => client.send(new ListBucketsCommand({})))
    for (const { $metadata } of await Promise.all(three))
      assert.equal($metadata.httpStatusCode, 200)
    sent += three.length
  }
  assert.ok(statuses.includes(503), statuses.join(' '))
  assert.equal(statuses.filter((status) => status === 200).length, sent)
  assert.ok(statuses.length <= sent + 6, statuses.join(' '))
  client.destroy()
})
