// A page of another origin asks the API with the rules of a browser.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { RESPONSE_HEADERS } from '#contract/headers.ts'
import type { ScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { browserFetch, ORIGIN } from '../browser-fetch.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream } from '../upstreams.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const MODEL = 'for-browsers'
let ergon: Ergon
let upstream: ScriptedUpstream
before(async () => {
  ergon = sharedErgon()
  upstream = await addUpstream(ergon, MODEL)
})
after(() => upstream.close())

const client = () =>
  new OpenAI({
    baseURL: `${ergon.baseUrl}/v1`,
    apiKey: ergon.token,
    fetch: browserFetch,
    dangerouslyAllowBrowser: true,
    maxRetries: 0,
  })
const messages = [{ role: 'user' as const, content: 'Hi' }]

test('the openai package works in a page, and the page can read what an answer cost', async () => {
  const { data, response } = await client()
    .chat.completions.create({ model: MODEL, messages, max_tokens: 4 })
    .withResponse()
  assert.equal(data.model, MODEL)
  for (const [name, { on }] of Object.entries(RESPONSE_HEADERS))
    if (on !== 'streamed') assert.ok(response.headers.has(name), `${name} is not exposed`)
  assert.ok(response.headers.has('x-router-reason'))
  let chunks = 0
  const stream = await client().chat.completions.create({ model: MODEL, messages, stream: true })
  for await (const chunk of stream) chunks += chunk.choices.length
  assert.ok(chunks > 0)
  assert.ok((await client().models.list()).data.some(({ id }) => id === MODEL))
})

test('the page can read a refusal', async () => {
  const unknown = client().chat.completions.create({ model: 'nobody', messages })
  await assert.rejects(unknown, { status: 404, code: 'model_not_found' })
  const wrong = browserFetch(`${ergon.baseUrl}/v1/usage/last`, {
    headers: { authorization: 'Bearer svc_wrong' },
  })
  assert.equal((await wrong).status, 401)
})

test('a preflight names the methods of its path and the headers that were asked for, at nobody’s cost', async () => {
  const ask = (path: string, headers: Record<string, string>) =>
    fetch(`${ergon.baseUrl}${path}`, {
      method: 'OPTIONS',
      headers: { origin: ORIGIN, 'access-control-request-method': 'POST', ...headers },
    })
  const names = 'authorization,content-type,x-stainless-os'
  const answer = await ask('/v1/chat/completions', { 'access-control-request-headers': names })
  assert.equal(answer.status, 204)
  const { headers } = answer
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(headers.get('access-control-allow-methods'), 'POST')
  assert.equal(headers.get('access-control-allow-headers'), names)
  assert.match(headers.get('access-control-max-age') ?? '', /^[1-9]\d*$/)
  assert.equal(headers.get('access-control-allow-credentials'), null)
  // The token is ignored, and nobody pays: the receipt is unattributed, so everybody may read it.
  const receipt = `${ergon.baseUrl}/v1/receipts/${headers.get('x-receipt-id')}`
  assert.ok([200, 202].includes((await fetch(receipt)).status))
  for (const bad of [`x${',x'.repeat(2000)}`, 'a b'])
    assert.equal(
      (await ask('/v1/chat/completions', { 'access-control-request-headers': bad })).headers.get(
        'access-control-allow-headers',
      ),
      null,
    )
  assert.equal((await ask('/v1/models', {})).headers.get('access-control-allow-methods'), 'GET')
  // So that the page can read that there is no such path.
  await assert.rejects(
    client().get('/nothing'),
    (error: { status?: number }) => error.status === 404,
  )
})

test('without an origin OPTIONS tells the methods of a path, and of no path that there is none', async () => {
  const ask = (path: string) => fetch(`${ergon.baseUrl}${path}`, { method: 'OPTIONS' })
  const known = await ask('/v1/usage')
  assert.deepEqual([known.status, known.headers.get('allow')], [204, 'OPTIONS, GET'])
  assert.equal((await ask('/v1/nothing')).status, 404)
})
