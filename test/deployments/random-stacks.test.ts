// Random descriptions, one after another on the same stack: after each deployment its plan has nothing left.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { deploymentPlan, deploymentReply } from '#contract/deployments/deployments.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'

product(PLAIN)

const RUNS = process.env['ERGON_LONG'] === '1' ? 200 : 6
const LOOK_MS = 30
const STACK = 'random'

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

/** Two webhooks that exchange their addresses cannot both go first. */
const EXCHANGE = /exchange their url/

async function ask(path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${ergon.baseUrl}/v1/deployments${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  assert.ok(answer.status < 300, text)
  return JSON.parse(text)
}

async function deploy(description: string): Promise<void> {
  const files = { 'f.mjs': { file: 'f.mjs', source: "export default () => new Response('f')\n" } }
  const wanted = { stack: STACK, description, files, variables: { note: 'hush' } }
  const planned = await ask('', { ...wanted, dry_run: true }).catch((error: Error) => error)
  if (planned instanceof Error) return assert.match(planned.message, EXCHANGE)
  const before = deploymentPlan.parse(planned)
  let seen = deploymentReply.parse(await ask('', { ...wanted, plan: before.plan }))
  assert.equal(seen.changes, before.changes)
  while (seen.status === 'running') {
    await pause(LOOK_MS)
    seen = deploymentReply.parse(await ask(`/${seen.id}`))
  }
  assert.equal(seen.status, 'done', JSON.stringify(seen.steps))
  const after = deploymentPlan.parse(await ask('', { ...wanted, dry_run: true }))
  assert.deepEqual(
    after.steps.filter(({ action }) => action !== 'none'),
    [],
  )
  // An application of nothing changes nothing either.
  assert.equal(after.changes, 0)
}

const bucket = fc
  .record({ name: fc.constantFrom('a', 'b', 'c'), versioning: fc.option(fc.boolean()) })
  .map(({ name, versioning }) => ({
    address: `bucket random-${name}`,
    text: versioning === null ? '' : `  versioning = ${versioning}\n`,
  }))
const webhook = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c'),
    // Names exchange their addresses, too.
    path: fc.constantFrom('x', 'y', 'z?key=1', 'z?key=2'),
    events: fc.subarray(['balance.low', 'balance.depleted', 'receipt.published'], { minLength: 1 }),
    description: fc.constantFrom('', '"plain"', 'var.note', '"of ${upper(var.note)}"'),
  })
  .map(({ name, path, events, description }) => ({
    address: `webhook ${name}`,
    path,
    text: [
      `  url = "https://example.com/${path}"\n`,
      `  events = ${JSON.stringify(events)}\n`,
      description === '' ? '' : `  description = ${description}\n`,
    ].join(''),
  }))
const lambda = fc
  .record({
    memory: fc.constantFrom('64MB', '128MiB'),
    budget: fc.option(fc.constantFrom('10 kJ/day', '1 Wh/day')),
    note: fc.constantFrom('plain', '${var.note}'),
  })
  .map(({ memory, budget, note }) => ({
    address: 'function random-f',
    text: `  file = "f.mjs"\n  memory = "${memory}"\n  env = { NOTE = "${note}" }\n${budget === null ? '' : `  energy_budget = "${budget}"\n`}`,
  }))

const HEAD = 'variable "note" {\n  sensitive = true\n}\n'
const blockOf = ({ address, text }: { readonly address: string; readonly text: string }) => {
  const [type, name] = address.split(' ')
  return `${type} "${name}" {\n${text}}\n`
}

const description = fc
  .record({
    buckets: fc.uniqueArray(bucket, { selector: ({ address }) => address, maxLength: 3 }),
    webhooks: fc.uniqueArray(webhook, {
      // No two of one name, nor of one address.
      comparator: (a, b) => a.address === b.address || a.path === b.path,
      maxLength: 3,
    }),
    lambdas: fc.array(lambda, { maxLength: 1 }),
  })
  .map(({ buckets, webhooks, lambdas }) =>
    [HEAD, ...[...buckets, ...webhooks, ...lambdas].map(blockOf)].join(''),
  )

test('a plan after its deployment is empty, whatever was there before', async () => {
  await fc.assert(fc.asyncProperty(description, deploy), { numRuns: RUNS, endOnFailure: true })
  await deploy(HEAD)
  assert.deepEqual(
    await ergon.sql('select address from stack_resources where stack = $1', [STACK]),
    [],
  )
})
