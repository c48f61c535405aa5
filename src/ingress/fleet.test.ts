// The instances of one resource at an agent of their own: how many are asked for, which one gets a request, and which ones go.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { serveAgent, type OpenRequest } from '#node/agent-socket/serve-agent.ts'
import { createCausedByCells } from '#node/meter/caused-by-cells.ts'
import { RequestEnding } from './request-ending.ts'
import { ServiceStartFault } from './start-failure.ts'
import { createInstanceUses } from './uses.ts'
import type { InstanceUse } from './fleet.ts'

const CALM_MS = 200
const START_MS = 1000
const ROUTE = { id: 'wl_a', kind: 'workload' } as const
const scale = { min: 0, max: 3, target: 2 }

/** An agent that has the numbers of the instances in use, and answers by `reply`. */
async function agentOf(
  t: TestContext,
  reply = (nth: number, request: OpenRequest): unknown =>
    request.say({ address: `unix:/none/${nth}`, cell: `wl-a-${nth}` }),
) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-fleet-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const agent = { socketPath: join(folder, 'agent'), secret: 'secret' }
  const used = new Map<number, OpenRequest>()
  let asked = 0
  const server = await serveAgent(agent, (request) => {
    asked++
    const nth = Number(request.path.split('/').at(-1))
    used.set(nth, request)
    request.whenEnded(() => used.get(nth) === request && used.delete(nth))
    reply(nth, request)
  })
  t.after(() => server.close())
  const uses = createInstanceUses(
    { agent, caused: createCausedByCells(), startMs: START_MS },
    { calmMs: CALM_MS },
  )
  t.after(() => uses.close())
  return {
    used,
    asked: () => asked,
    begin: async (more = {}, ending = new RequestEnding()) =>
      await uses.begin({ ...ROUTE, scale, ...more }, ending),
    numbers: () => [...used.keys()].toSorted(),
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (let nth = 0; !holds() && nth < 500; nth++) await pause(10)
  assert.ok(holds())
}

test('instances come with the requests of a moment, and go after a calm time, never below the first', async (t) => {
  const agent = await agentOf(t)
  const running = [await agent.begin(), await agent.begin()]
  await pause(50)
  assert.deepEqual(agent.numbers(), [1])
  running.push(await agent.begin())
  await until(() => agent.used.size === 2)
  // Beyond the most there is none.
  while (running.length < 12) running.push(await agent.begin())
  await until(() => agent.used.size === 3)
  assert.equal(agent.asked(), 3)
  await pause(50)
  const next = await agent.begin()
  assert.ok(
    running.every(({ pool }) => pool !== next.pool),
    'a further request goes to the instance with the fewest',
  )
  running.push(next)
  for (const one of running.splice(3)) one.end()
  // Three requests need two instances.
  await until(() => agent.used.size < 3)
  await pause(3 * CALM_MS)
  assert.equal(agent.used.size, 2)
  for (const one of running) one.end()
  await until(() => agent.used.size === 0)
})

test('a load about the limit of an instance neither starts nor ends one', async (t) => {
  const agent = await agentOf(t)
  const running = [await agent.begin(), await agent.begin(), await agent.begin()]
  await until(() => agent.used.size === 2)
  running.pop()?.end()
  // Two requests fill one instance: no part is free.
  await pause(4 * CALM_MS)
  assert.deepEqual([agent.numbers(), agent.asked()], [[1, 2], 2])
  running.pop()?.end()
  await until(() => agent.used.size === 1)
  for (const one of running) one.end()
})

test('the least instances are used from the first request on', async (t) => {
  const agent = await agentOf(t)
  const least = { scale: { min: 2, max: 3, target: 50 } }
  const first = await agent.begin(least)
  await until(() => agent.used.size === 2)
  await pause(20)
  const second = await agent.begin(least)
  assert.notEqual(first.pool, second.pool)
})

test('an instance that does not answer is asked last, and another one takes its place', async (t) => {
  const agent = await agentOf(t)
  const first = await agent.begin()
  first.down()
  const second = await agent.begin()
  await until(() => agent.used.size === 2)
  await pause(20)
  const further: InstanceUse[] = [await agent.begin(), await agent.begin()]
  assert.ok(further.every(({ pool }) => pool !== first.pool))
  // Also where it has none, and the other one has some.
  first.end()
  assert.notEqual((await agent.begin()).pool, first.pool)
  for (const one of [second, ...further]) one.end()
})

test('a further instance that is refused costs no request, and is not asked for again at once', async (t) => {
  const refusal = { refused: 'workload_busy', message: 'Could not start another instance: x' }
  const agent = await agentOf(t, (nth, request) =>
    nth === 1 ? request.say({ address: 'unix:/none/1' }) : request.end(refusal),
  )
  const running = [await agent.begin(), await agent.begin(), await agent.begin()]
  await until(() => agent.asked() === 2)
  await pause(50)
  // Each other number is tried once.
  running.push(await agent.begin(), await agent.begin())
  await pause(50)
  const asked = agent.asked()
  assert.ok(asked <= 3, String(asked))
  running.push(await agent.begin())
  await pause(50)
  assert.equal(agent.asked(), asked)
  for (const one of running) one.end()
})

test('where the first instance is refused, another one that opens answers; where all are, the request has why', async (t) => {
  const refusal = { refused: 'workload_failed', message: 'Could not run it' }
  let refused = [1]
  const agent = await agentOf(t, (nth, request) =>
    refused.includes(nth)
      ? request.end(refusal)
      : setTimeout(() => request.say({ address: `unix:/none/${nth}`, cell: `wl-a-${nth}` }), 50),
  )
  const least = { scale: { min: 2, max: 2, target: 2 } }
  const one = await agent.begin(least)
  assert.deepEqual(agent.numbers(), [2])
  one.end()
  await until(() => agent.used.size === 0)
  refused = [1, 2]
  await assert.rejects(agent.begin(least), { code: 'workload_failed' })
})

test('a refusal that stands is asked for once, also after a rest, until the agent ends its answer', async (t) => {
  const line = { refused: 'workload_budget_exhausted', message: 'Could not run it', stands: true }
  const requests: OpenRequest[] = []
  const agent = await agentOf(t, (_, request) => {
    requests.push(request)
    request.say(line)
  })
  const refused = () => assert.rejects(agent.begin(), { code: line.refused })
  for (let nth = 0; nth < 20; nth++) await refused()
  // Longer than instances stay in use without a request.
  await pause(1500)
  await refused()
  assert.equal(agent.asked(), 1)
  requests[0]?.end()
  await until(() => agent.used.size === 0)
  await refused()
  assert.equal(agent.asked(), 2)
})

test('an instance that runs answers while a refusal of another one stands', async (t) => {
  const line = { refused: 'balance_depleted', message: 'Could not run it', stands: true }
  const agent = await agentOf(t, (nth, request) =>
    request.say(nth === 1 ? { address: 'unix:/none/1', cell: 'wl-a-1' } : line),
  )
  const running: InstanceUse[] = []
  while (running.length < 9) running.push(await agent.begin())
  await until(() => agent.asked() === 3)
  assert.equal(new Set(running.map(({ pool }) => pool)).size, 1)
  for (const one of running) one.end()
})

test('a caller that leaves while no instance is open is no load any more', async (t) => {
  const agent = await agentOf(t, () => undefined)
  const leaving = new RequestEnding()
  const left = assert.rejects(agent.begin({}, leaving))
  await until(() => agent.used.size === 1)
  leaving.abort(new Error('gone'))
  // Nobody waits for it.
  await until(() => agent.used.size === 0)
  await left
})

test('an agent that breaks off, or is silent about a function, is a failure of the service; a replacement is none', async (t) => {
  const isOurs = async (begun: Promise<InstanceUse>) =>
    (await begun.then(
      () => assert.fail('it begins'),
      (error: unknown) => error,
    )) instanceof ServiceStartFault
  const broken = await agentOf(t, (_, request) => request.destroy())
  assert.equal(await isOurs(broken.begin()), true)
  const replacing = await agentOf(t, (_, request) => request.end({ replaced: true }))
  assert.equal(await isOurs(replacing.begin()), false)
  const silent = await agentOf(t, () => undefined)
  assert.equal(await isOurs(silent.begin({ id: 'fn_a', kind: 'function' })), true)
  assert.equal(await isOurs(silent.begin()), false, 'the image of a workload is not ready')
})
