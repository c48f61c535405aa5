import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server as TcpServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { Secret } from '#base/log.ts'
import { quietLog } from '#inference/testing/offers.ts'
import { answering, startScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { watchServers } from './absent-servers.ts'
import { askModels } from './ask-models.ts'

const { signal } = new AbortController()

async function listen(port = 0): Promise<{ server: TcpServer; port: number; baseUrl: string }> {
  const server = createServer(() => undefined).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return { server, port: address.port, baseUrl: `http://127.0.0.1:${address.port}/v1` }
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

test('a server is absent while nobody is there, and comes back by itself', async () => {
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
  assert.deepEqual([watched.has('gone'), watched.has('here')], [true, false])
  const back = await listen(gone.port)
  while (watched.has('gone')) await sleep(10)
  back.server.close()
  // Its breaker is not closed, as of every provider that is unknown: so it is asked again.
  while (!watched.has('gone')) await sleep(10)
  watched.replace(new Map([['here', here]]))
  assert.equal(watched.has('gone'), false, 'one that was removed is forgotten')
  await watched.close()
  here.server.close()
})
