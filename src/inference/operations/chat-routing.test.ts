// The way of a chat: the request to its upstream, the turns of accounts there, and the next offer when it fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import { createFailures } from '#inference/failures.ts'
import { BREAKER_POLICY } from '#inference/providers/breaker.ts'
import { createOpenaiProvider } from '#inference/providers/openai/openai-provider.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { createShares } from '#inference/shares.ts'
import { callOf, depsOf, offerOf, quietLog } from '#inference/testing/offers.ts'
import {
  answering,
  cellChunk,
  cellHello,
  startScriptedUpstream,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { createChatCreate } from './chat-create.ts'
import { ask, known, streamed, withCell } from './generation.fixture.ts'

let upstream: ScriptedUpstream
let provider: Provider
withCell((opened) => ({ upstream, provider } = opened))

test('chat asks the upstream for a stream by its own name and sends no unknown field', async () => {
  upstream.script = streaming(...cellHello)
  upstream.asked.length = 0
  const call = callOf(
    ask({ max_completion_tokens: 9, kv_transfer_params: { remote_host: 'evil' }, stop: null }),
  )
  await createChatCreate(depsOf([offerOf()], [provider]))(call)
  const [asked] = upstream.asked
  assert.equal(asked?.path, '/v1/chat/completions')
  assert.deepEqual(asked?.body, {
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 9,
    model: 'upstream-small',
    stream: true,
    stream_options: { include_usage: true },
  })
})

test('chat leaves calls to other accounts, and tells its own cell whose turn it is', async () => {
  upstream.asked.length = 0
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  let open = 0
  upstream.script = (_asked, response) => {
    open++
    response.once('close', () => --open === 0 && resolve())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(cellChunk({ content: 'a' }, [1_000_000, 5, 1]))
  }
  const deps = { ...depsOf([offerOf({ isCell: true })], [provider]), shares: createShares(4) }
  const handler = createChatCreate(deps)
  const calls: { leave(): void }[] = []
  const begin = async (account: string) => {
    const call = callOf(ask({ stream: true }))
    const caller = { ...present(call.caller, 'a principal'), account }
    streamed(await handler({ ...call, caller }))
    calls.push(call)
  }
  await begin('acct_1')
  await begin('acct_1')
  await assert.rejects(begin('acct_1'), { code: 'too_many_requests', status: 429 })
  await begin('acct_2')
  assert.deepEqual(
    upstream.asked.map(({ body }) => body['ergon_payer']),
    ['acct_1', 'acct_1', 'acct_2'],
  )
  for (const call of calls) call.leave()
  await gone
  await begin('acct_1')
  calls.at(-1)?.leave()
})

test('chat passes on what the model finds wrong with the request, and claims what it took', async () => {
  upstream.script = answering(400, {
    ergon: { cpu_ns: '77', prompt_tokens: 9, completion_tokens: 0 },
    error: { message: 'Too long by 9 tokens', code: 'context_length_exceeded', param: 'messages' },
  })
  const handler = createChatCreate(depsOf([offerOf()], [provider]))
  const call = callOf(ask())
  await assert.rejects(Promise.resolve(handler(call)), {
    code: 'context_length_exceeded',
    status: 400,
    message: 'Too long by 9 tokens',
    param: 'messages',
  })
  assert.deepEqual(call.spend.claims, [{ kind: 'cpu', cell: 'cell-small', cpuNs: 77n }])
})

test('chat with auto falls back to the next offer, and what the first one used is the operator’s', async () => {
  // A pause of the breaker does not end, however busy the machine is.
  const still = { ...systemClock, monotonicMs: () => 0 }
  const dying = await startScriptedUpstream('socket', (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': {"cpu_ns":"7000000","prompt_tokens":5,"completion_tokens":0}\n\n')
    setImmediate(() => response.destroy())
  })
  const other = createOpenaiProvider(
    { name: 'cell-dying', at: { kind: 'cell', socketPath: dying.socketPath } },
    { clock: still, log: quietLog, sleep: async () => {} },
  )
  try {
    upstream.script = streaming(...cellHello)
    const cheap = offerOf({
      id: 'cheap',
      provider: 'cell-dying',
      njPerCompletionToken: offerOf().njPerPromptToken,
    })
    const call = callOf(ask({ model: 'auto' }))
    const reply = known(await createChatCreate(depsOf([cheap, offerOf()], [other, provider]))(call))
    assert.equal(
      reply.headers?.['x-router-reason'],
      'L0: a greeting or thanks; cheap failed (upstream_failed); served by small, meant for L3',
    )
    assert.equal(call.spend.facts.model, 'small')
    assert.equal(call.spend.admissions.length, 2)
    const cells = new Set(call.spend.claims.map((used) => used.kind === 'cpu' && used.cell))
    assert.deepEqual([...cells], ['cell-dying', 'cell-small'])
    assert.deepEqual(call.spend.absorbed, [{ kind: 'cpu', cell: 'cell-dying', cpuNs: 7_000_000n }])
    const pinned = callOf(ask({ model: 'cheap' }))
    await assert.rejects(
      Promise.resolve(createChatCreate(depsOf([cheap, offerOf()], [other, provider]))(pinned)),
      { code: 'upstream_failed' },
    )
    // After failures in a row the provider rests, and the reason of the router does not name it as the cheapest.
    const all = depsOf([cheap, offerOf()], [other, provider])
    const failures = createFailures({ log: quietLog, clock: still, providers: all.providers })
    const deps = { ...all, failures }
    const reasons: string[] = []
    for (let asked = 0; asked < BREAKER_POLICY.failuresMax + 1; asked++) {
      const again = callOf(ask({ model: 'auto' }))
      const reply = known(await createChatCreate(deps)(again))
      reasons.push(reply.headers?.['x-router-reason'] ?? '')
    }
    assert.ok(
      reasons.every((said) => !said.includes('overloaded')),
      'nobody was sent to it',
    )
    assert.match(reasons.at(-1) ?? '', /^L0: .*; small is the only capable model at /)
  } finally {
    await other.close()
    await dying.close()
  }
})
