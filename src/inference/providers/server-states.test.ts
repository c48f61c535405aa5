import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server as TcpServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { Secret } from '#base/log.ts'
import { quietLog } from '#inference/testing/offers.ts'
import { answering, startScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { askModels } from './ask-models.ts'
import type { UpstreamServer } from './ask-server.ts'
import { askToken } from './ask-token.ts'
import { watchServers } from './server-states.ts'

const { signal } = new AbortController()

const ASKED = { model: 'upstream-name', isEmbedding: false }

async function listen(port = 0): Promise<{ server: TcpServer; port: number } & UpstreamServer> {
  const server = createServer(() => undefined).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${address.port}/v1`
  return { server, port: address.port, baseUrl, ...ASKED }
}
async function closedPort() {
  const { server, ...at } = await listen()
  server.close()
  await once(server, 'close')
  return at
}

test('askModels() tells who is not there from who refuses, is slow, or lists its models', async () => {
  const upstream = await startScriptedUpstream('port', () => undefined)
  const keys: unknown[] = []
  upstream.models = ({ headers }, response) => {
    keys.push(headers.authorization)
    answering(200, { data: [{ id: 'a', object: 'model' }, { id: 'b' }] })(
      { path: '', headers, body: {} },
      response,
    )
  }
  const { baseUrl } = upstream
  const apiKey = new Secret('k')
  assert.deepEqual(await askModels({ baseUrl, apiKey }, signal), {
    reached: true,
    status: 200,
    ids: ['a', 'b'],
  })
  assert.deepEqual(keys, ['Bearer k'])
  upstream.models = answering(401, {})
  assert.deepEqual(await askModels({ baseUrl }, signal), { reached: true, status: 401 })
  for (const text of ['no JSON', '[]', `"${'x'.repeat(5 * 1024 * 1024)}"`]) {
    upstream.models = answering(200, text)
    assert.deepEqual(await askModels({ baseUrl }, signal), { reached: true, status: 200 })
  }
  const silent = await listen()
  assert.deepEqual(await askModels(silent, signal), { reached: true })
  silent.server.close()
  const nobody = await askModels(await closedPort(), signal)
  assert.match(nobody.reached ? '' : nobody.why, /ECONNREFUSED/)
  const unnamed = await askModels({ baseUrl: 'http://no.such.host.invalid/v1' }, signal)
  assert.equal(unnamed.reached, false)
  await upstream.close()
})

test('askToken() tells who serves from who refuses the key, has no API, or has not the model', async () => {
  const upstream = await startScriptedUpstream('port', () => undefined)
  const server = { baseUrl: upstream.baseUrl, ...ASKED }
  const kindOf = async (status: number, body: unknown, asked: UpstreamServer = server) => {
    upstream.probe = answering(status, body)
    return (await askToken(asked, signal)).kind
  }
  assert.equal(await kindOf(200, { choices: [] }), 'served')
  assert.equal(await kindOf(200, { data: [] }, { ...server, isEmbedding: true }), 'served')
  assert.equal(await kindOf(200, { data: [] }), 'no_api')
  assert.equal(await kindOf(200, '<html>'), 'no_api')
  for (const status of [401, 403]) assert.equal(await kindOf(status, {}), 'unauthorized')
  for (const text of ['404 page not found', { detail: 'Not Found' }])
    assert.equal(await kindOf(404, text), 'no_api')
  assert.equal(await kindOf(308, ''), 'no_api')
  const unknown = { error: { message: 'The model `upstream-name` does not exist' } }
  assert.equal(await kindOf(404, unknown), 'no_model')
  for (const status of [400, 429, 500]) assert.equal(await kindOf(status, {}), 'refused')
  const bodies: unknown[] = []
  upstream.probe = ({ path, body }, response) => {
    bodies.push([path, body])
    response.end('{}')
  }
  await askToken(server, signal)
  const messages = [{ role: 'user', content: 'Hi' }]
  assert.deepEqual(bodies, [
    ['/v1/chat/completions', { model: 'upstream-name', messages, max_tokens: 1 }],
  ])
  await upstream.close()
  assert.equal((await askToken(server, signal)).kind, 'unreached')
})

test('a server is unreachable while nobody is there, and comes back by itself', async () => {
  const gone = await closedPort()
  const here = await listen()
  const watched = watchServers({ providers: new Map(), log: quietLog, askMs: 20 })
  watched.replace(
    new Map([
      ['gone', gone],
      ['here', here],
    ]),
  )
  await watched.asked()
  assert.deepEqual(['gone', 'here'].map(watched.faultOf), ['unreachable', undefined])
  const back = await listen(gone.port)
  while (watched.faultOf('gone') !== undefined) await sleep(10)
  back.server.close()
  // Its breaker is not closed, as of every provider that is unknown: so it is asked again.
  while (watched.faultOf('gone') === undefined) await sleep(10)
  watched.replace(new Map([['here', here]]))
  assert.equal(watched.faultOf('gone'), undefined, 'one that was removed is forgotten')
  await watched.close()
  here.server.close()
})

test('a server that refuses its key is unauthorized until it takes the key', async () => {
  const upstream = await startScriptedUpstream('port', () => undefined)
  upstream.models = answering(401, {})
  upstream.probe = answering(401, {})
  const watched = watchServers({ providers: new Map(), log: quietLog, askMs: 20 })
  watched.replace(new Map([['one', { baseUrl: upstream.baseUrl, ...ASKED }]]))
  await watched.asked()
  assert.equal(watched.faultOf('one'), 'unauthorized')
  upstream.probe = answering(404, '404 page not found')
  while (watched.faultOf('one') !== 'unreachable') await sleep(10)
  // A key may list no models, and serve all the same.
  upstream.probe = answering(200, { choices: [] })
  while (watched.faultOf('one') !== undefined) await sleep(10)
  await watched.close()
  await upstream.close()
})

test('a server that replaces another while that one is asked is asked too', async (t) => {
  const slow = await startScriptedUpstream('port', () => undefined)
  const isAsked = Promise.withResolvers<void>()
  const mayAnswer = Promise.withResolvers<void>()
  slow.models = async (asked, response) => {
    isAsked.resolve()
    await mayAnswer.promise
    await answering(200, { data: [{ id: 'a' }] })(asked, response)
  }
  const watched = watchServers({ providers: new Map(), log: quietLog, askMs: 60_000 })
  t.after(() => Promise.all([watched.close(), slow.close()]))
  watched.replace(new Map([['one', { baseUrl: slow.baseUrl, ...ASKED }]]))
  await isAsked.promise
  watched.replace(new Map([['one', await closedPort()]]))
  mayAnswer.resolve()
  await watched.asked()
  assert.equal(watched.faultOf('one'), 'unreachable')
})
