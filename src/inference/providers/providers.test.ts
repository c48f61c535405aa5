import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { Secret } from '#base/log.ts'
import { offerOf, quietLog } from '#inference/testing/offers.ts'
import { plainChunk, DONE, startScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import type { ProviderConfig } from './provider.ts'
import { createProviders } from './providers.ts'

const config = (name: string, key: string): ProviderConfig => ({
  name,
  at: { kind: 'upstream', baseUrl: 'http://127.0.0.1:9/v1', bandPct: 60 },
  apiKey: new Secret(key),
})

const LIMITS = { promptBytes: 8, promptTokensMax: 24, choices: 1, tokensMax: 9 }

test('providers stay while their config does, and go with it', async () => {
  const providers = createProviders({ clock: systemClock, log: quietLog })
  providers.replace([config('a', 'k'), config('b', 'k')])
  const [a, b] = [providers.get('a'), providers.get('b')]
  assert.ok(a !== undefined && b !== undefined)
  providers.replace([config('a', 'k'), config('b', 'other')])
  assert.equal(providers.get('a'), a)
  assert.notEqual(providers.get('b'), b)
  providers.replace([config('a', 'k')])
  assert.equal(providers.get('b'), undefined)
  await providers.close()
  assert.equal(providers.get('a'), undefined)
})

test('a provider of an address that is no HTTP is refused', () => {
  const providers = createProviders({ clock: systemClock, log: quietLog })
  const file = { ...config('a', 'k'), at: { kind: 'upstream', baseUrl: 'file:///x', bandPct: 1 } }
  assert.throws(() => providers.replace([file as ProviderConfig]), TypeError)
})

test('a provider that is replaced or removed ends its calls first, then its connections', async () => {
  const go = Promise.withResolvers<void>()
  const server = await startScriptedUpstream('port', async (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('Hello'))
    await go.promise
    response.end(plainChunk(null, 'stop') + DONE)
  })
  const at = { kind: 'upstream', baseUrl: server.baseUrl, bandPct: 60 } as const
  const providers = createProviders({ clock: systemClock, log: quietLog })
  providers.replace([
    { name: 'a', at },
    { name: 'b', at },
  ])
  const calls = ['a', 'b'].map(async (name) => {
    const provider = providers.get(name)
    assert.ok(provider)
    const call = { offer: offerOf(), body: {}, ...LIMITS } as const
    const kinds: string[] = []
    const { signal } = new AbortController()
    for await (const events of provider.generate({ shape: 'chat', ...call }, signal))
      kinds.push(...events.map(({ kind }) => kind))
    return kinds.at(-1)
  })
  while (server.asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  // The one is replaced, the other removed, in the middle of their answers.
  providers.replace([{ name: 'a', at, apiKey: new Secret('k') }])
  go.resolve()
  assert.deepEqual(await Promise.all(calls), ['end', 'end'])
  assert.equal(server.abandoned(), 0)
  while ((await server.connections()) > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await providers.close()
  await server.close()
})

test('closing the set ends what a replaced provider still does', async () => {
  const server = await startScriptedUpstream('port', (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('Hello'))
  })
  const at = { kind: 'upstream', baseUrl: server.baseUrl, bandPct: 60 } as const
  const providers = createProviders({ clock: systemClock, log: quietLog })
  providers.replace([{ name: 'a', at }])
  const call = { offer: offerOf(), body: {}, ...LIMITS } as const
  const events = providers
    .get('a')
    ?.generate({ shape: 'chat', ...call }, new AbortController().signal)
  await events?.next()
  providers.replace([])
  await providers.close()
  await assert.rejects(async () => await events?.next(), { code: 'upstream_failed' })
  await server.close()
})
