// Chats that end early: cut because a hold is used up or the process stops, or left by their client.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { ERRORS, fault } from '#contract/errors.ts'
import { createOpenaiProvider } from '#inference/providers/openai/openai-provider.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { callOf, depsOf, offerOf, quietLog } from '#inference/testing/offers.ts'
import {
  cellChunk,
  cellHello,
  frame,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { createStrictSpend } from '#inference/testing/strict-spend.ts'
import { createChatCreate } from './chat-create.ts'
import { ask, chunksOf, known, streamed, textOf, withCell } from './generation.fixture.ts'

let upstream: ScriptedUpstream
let provider: Provider
withCell((opened) => ({ upstream, provider } = opened))

test('chat is cut when its hold is used up, and says so inside the stream', async () => {
  upstream.script = streaming(
    // In one write: nothing of what came with the cut may still go out.
    [
      cellChunk({ content: 'a' }, [1_000_000, 5, 1]),
      cellChunk({ content: 'b' }, [900_000_000, 5, 2]),
      cellChunk({ content: 'c' }, [1_000_000_000, 5, 3]),
    ].join(''),
  )
  const call = callOf(ask({ stream: true }), createStrictSpend({ holdNj: 1_000_000_000n }))
  const reply = streamed(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  let text = ''
  const error = await (async () => {
    for await (const chunk of reply.chunks) text += String(chunk)
  })().catch((thrown: unknown) => thrown)
  assert.ok(error instanceof ErgonError)
  assert.equal(error.code, 'balance_depleted')
  assert.ok(text.includes('"a"') && !text.includes('"b"'), text)
  assert.deepEqual(chunksOf(reply.cut(error, call.spend.settle(200))), [
    {
      error: {
        message: `The hold is used up. ${ERRORS.balance_depleted.help}`,
        type: 'insufficient_quota',
        code: 'balance_depleted',
        param: null,
      },
    },
  ])
  assert.equal(call.spend.claims.length, 2)
})

test('chat that is cut between two chunks never looks complete', async () => {
  upstream.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(cellChunk({ content: 'a' }, [1_000_000, 5, 1]))
  }
  const call = callOf(ask({ stream: true }))
  const reply = streamed(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  const chunks = reply.chunks[Symbol.asyncIterator]()
  assert.equal((await chunks.next()).done, false)
  call.spend.cutNow(fault('draining', 'This process stops'))
  await assert.rejects(chunks.next(), { code: 'draining' })
})

test('chat closes the upstream when its reader leaves, and what came is claimed', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  upstream.script = (_asked, response) => {
    response.once('close', resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(cellChunk({ content: 'a' }, [1_000_000, 5, 1]))
    response.write(cellChunk({ content: 'b' }, [2_000_000, 5, 2]))
  }
  const call = callOf(ask({ stream: true }))
  const reply = streamed(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  for await (const chunk of reply.chunks) {
    assert.ok(String(chunk).startsWith('data: '))
    // Both come in one step when the network delivers them together.
    if (String(chunk).includes('"b"')) break
  }
  await closed
  assert.equal(call.spend.facts.completionTokens, 2)
})

test('chat closes the upstream when the client goes before its stream is read', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  upstream.script = (_asked, response) => {
    response.once('close', resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(cellChunk({ content: 'a' }, [1_000_000, 5, 1]))
  }
  // One call at a time: a call that is not given back would refuse the next one.
  const narrow = createOpenaiProvider(
    {
      name: 'cell-small',
      at: { kind: 'cell', socketPath: upstream.socketPath },
      connectionsMax: 1,
    },
    { clock: systemClock, log: quietLog },
  )
  try {
    const handler = createChatCreate(depsOf([offerOf()], [narrow]))
    const call = callOf(ask({ stream: true }))
    streamed(await handler(call))
    call.leave()
    await closed
    upstream.script = streaming(...cellHello)
    const answered = async (): Promise<string> => {
      const next = callOf(ask())
      try {
        return textOf(known(await handler(next)), next.spend)
      } catch (error) {
        // The cell hangs up before the gateway has heard of it.
        assert.equal((error as ErgonError).code, 'overloaded')
        return await new Promise(setImmediate).then(answered)
      }
    }
    assert.match(await answered(), /Hello world/)
  } finally {
    await narrow.close()
  }
})

test('chat closes the upstream when the client goes during prefill', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { promise: began, resolve: begin } = Promise.withResolvers<void>()
  upstream.script = (_asked, response) => {
    response.once('close', resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': {"cpu_ns":"5000000","prompt_tokens":64,"completion_tokens":0}\n\n')
    begin()
  }
  const call = callOf(ask())
  const running = Promise.resolve(createChatCreate(depsOf([offerOf()], [provider]))(call))
  const failed = assert.rejects(running, /client has gone/)
  await began
  while (call.spend.claims.length === 0) await new Promise((resume) => setImmediate(resume))
  call.leave()
  await failed
  await closed
  assert.equal(call.spend.facts.promptTokens, 64)
})

/** The last frame of a cell for an abandoned call, at the end of its step. */
const lastWords = frame({
  error: { message: 'The caller went away', code: 'client_closed' },
  ergon: { cpu_ns: '7000000', prompt_tokens: 64, completion_tokens: 1 },
})
const lastNs = (call: ReturnType<typeof callOf>) => {
  const last = call.spend.claims.at(-1)
  return last?.kind === 'cpu' ? last.cpuNs : undefined
}

for (const stream of [false, true])
  test(`chat claims what a step took whose client left it${stream ? ', streamed' : ''}`, async () => {
    const { promise: began, resolve: begin } = Promise.withResolvers<void>()
    upstream.left = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(lastWords)
    }
    upstream.script = () => begin()
    const call = callOf(ask({ stream }))
    const handler = createChatCreate(depsOf([offerOf()], [provider]))
    const failed = assert.rejects(Promise.resolve(handler(call)), { code: 'client_closed' })
    await began
    call.leave()
    await failed
    assert.equal(lastNs(call), 7_000_000n)
    assert.deepEqual(call.spend.absorbed, [])
  })

test('chat claims what a step took whose client left while nobody read', async () => {
  upstream.left = (response) => void response.end(lastWords)
  upstream.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(cellChunk({ content: 'a' }, [1_000_000, 5, 1]))
  }
  const call = callOf(ask({ stream: true }))
  const reply = streamed(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  const chunks = reply.chunks[Symbol.asyncIterator]()
  await chunks.next()
  call.leave()
  await chunks.return?.()
  assert.equal(lastNs(call), 7_000_000n)
})

test('chat that the service itself ends does not wait for its cell', async () => {
  const { promise: began, resolve: begin } = Promise.withResolvers<void>()
  upstream.left = () => assert.fail('the cell was asked for its last words')
  upstream.script = () => begin()
  const call = callOf(ask())
  const handler = createChatCreate(depsOf([offerOf()], [provider]))
  const failed = assert.rejects(Promise.resolve(handler(call)), { code: 'draining' })
  await began
  call.spend.cutNow(fault('draining', 'This process stops'))
  await failed
})
