// A deployment goes on after each of its processes is killed in the middle, and does nothing twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { deploymentReply, type DeploymentReply } from '#contract/deployments/deployments.ts'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'

const WAIT_MS = 60_000
const LOOK_MS = 50

let ergon: Ergon
before(async () => {
  ergon = await startErgon()
})
after(() => ergon?.stop())

const slow = (name: string) =>
  `await new Promise((done) => setTimeout(done, 1500))\nexport default () => new Response('${name}')\n`

/** Three functions, each after the one before, and a webhook at the end. */
const DESCRIPTION = `
function "first" {
  file = "first.mjs"
}
function "second" {
  file = "second.mjs"
  env  = { BEFORE = function.first.url }
}
function "third" {
  file = "third.mjs"
  env  = { BEFORE = function.second.url }
}
webhook "last" {
  url         = "https://example.com/last"
  events      = ["balance.low"]
  description = function.third.url
}
`

const headers = () => ({
  authorization: `Bearer ${ergon.token}`,
  'content-type': 'application/json',
})

async function begin(): Promise<string> {
  const names = ['first', 'second', 'third']
  const files = Object.fromEntries(
    names.map((name) => [`${name}.mjs`, { file: `${name}.mjs`, source: slow(name) }]),
  )
  const answer = await fetch(`${ergon.baseUrl}/v1/deployments`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify({ stack: 'killed', description: DESCRIPTION, files }),
  })
  assert.equal(answer.status, 201)
  return ((await answer.json()) as { id: string }).id
}

/** Waits while the service is away too. */
async function until(
  id: string,
  holds: (seen: DeploymentReply) => boolean,
): Promise<DeploymentReply> {
  const lastMs = performance.now() + WAIT_MS
  for (;;) {
    const url = `${ergon.baseUrl}/v1/deployments/${id}`
    const answer = await fetch(url, { headers: headers() }).catch(() => undefined)
    if (answer?.status === 200) {
      const seen = deploymentReply.parse(await answer.json())
      if (holds(seen)) return seen
    }
    assert.ok(performance.now() < lastMs, `it waits: ${answer?.status}`)
    await pause(LOOK_MS)
  }
}

/** It may have ended before it was seen running. */
const hasBegun = (address: string) => (seen: DeploymentReply) =>
  seen.steps.some((step) => step.address === address && step.status !== 'waiting')

test('a deployment goes on after its process, a gateway and the whole node are killed, and does each step once', async () => {
  const id = await begin()
  await until(id, hasBegun('function.first'))
  await ergon.killCell('tasks')
  await until(id, hasBegun('function.second'))
  await ergon.killCell('gw-1')
  await until(id, hasBegun('function.third'))
  await ergon.kill()
  await ergon.resume()
  const ended = await until(id, ({ status }) => status !== 'running')
  assert.equal(ended.status, 'done', JSON.stringify(ended.steps))
  const third = ended.steps.find(({ address }) => address === 'function.third')
  assert.equal(await (await fetch(third?.outputs['url'] ?? '')).text(), 'third')
  const versions = await ergon.sql(
    'select n.name, v.version from function_versions v join resources n on n.id = v.function',
  )
  assert.equal(versions.length, 3, JSON.stringify(versions))
  const acts = await ergon.sql<{ action: string; count: string }>(
    `select action, count(*)::text as count from audit_entries
     where action in ('function.deploy', 'webhook.create', 'deployment.create') group by action order by action`,
  )
  assert.deepEqual(
    acts.map(({ action, count }) => `${action} ${count}`),
    ['deployment.create 1', 'function.deploy 3', 'webhook.create 1'],
  )
  const [hook] = await ergon.sql<{ description: string }>(
    'select description from webhook_endpoints',
  )
  assert.equal(hook?.description, third?.outputs['url'])
  assert.deepEqual(await bookFaults(ergon), [])
  await earlierWorkIsPosted()
  assert.deepEqual(await bookFaults(ergon), [])
})

/** Nothing is deployed any more when the process ends. */
async function earlierWorkIsPosted(): Promise<void> {
  const sessions = async () =>
    await ergon.sql<{ id: string; charged: boolean; closed: boolean }>(
      `select id, last_seq > 0 as charged, closed_at is not null as closed
       from sessions where process = 'paid-tasks' order by life desc limit 1`,
    )
  // The second life has journaled nothing: its session has to end all the same.
  for (const charged of [true, false]) {
    const [last] = await eventually(sessions, ([one]) => one?.charged === charged && !one.closed)
    await ergon.killCell('tasks')
    await eventually(sessions, ([next]) => next !== undefined && next.id !== last?.id)
  }
}

async function eventually<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const lastMs = performance.now() + WAIT_MS
  for (;;) {
    const seen = await look()
    if (holds(seen)) return seen
    assert.ok(performance.now() < lastMs, JSON.stringify(seen))
    await pause(LOOK_MS)
  }
}
