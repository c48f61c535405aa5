// Description files as their users deploy them: planned, applied, changed, failing, in each other's way, destroyed.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { deploymentPlan, deploymentReply } from '#contract/deployments/deployments.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'

product(PLAIN)

const SECRET = 'do-not-show-7f3a'

let ergon: Ergon
let folder: string
before(() => {
  ergon = sharedErgon()
  folder = mkdtempSync(join(tmpdir(), 'ergon-deployments-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

/** A stack in a folder of its own, which is its name. */
function stackOf(name: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(join(folder, name), { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text)
  return join(folder, name, 'ergon.hcl')
}

const cli = (...words: readonly string[]) => ergon.cli(...words)
const plan = (file: string, ...words: readonly string[]) => cli('plan', '--file', file, ...words)
const deploy = (file: string, ...words: readonly string[]) =>
  cli('deploy', '--file', file, '--yes', ...words)

async function ask(body: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${ergon.baseUrl}/v1/deployments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

const functionOf = (text: string) => `export default () => new Response(${JSON.stringify(text)})\n`
const textAt = async (path: string): Promise<string> =>
  await (await fetch(`${String(ergon.ready['functions_url'])}${path}`)).text()

/** Charges come with the end of a bill, 5 s after the last turn. */
async function until<T>(rows: () => Promise<T[]>): Promise<[T]> {
  for (let nth = 0; nth < 100; nth++) {
    const [row] = await rows()
    if (row !== undefined) return [row]
    await sleep(200)
  }
  throw new TypeError('Nothing was charged')
}

const SHOP = `
variable "key" {
  sensitive = true
}
bucket "plan-photos" {
  versioning = true
}
function "plan-hello" {
  file  = "hello.ts"
  route = "/plan-hello"
  on = "bucket/plan-photos/object-created"
  schedule = "0 6 1 1 *"
  env   = { BUCKET = bucket.plan-photos.name }
  secret "KEY" {
    value = var.key
  }
}
output "address" {
  value = function.plan-hello.url
}
output "key" {
  value = upper(var.key)
}
`
const HELLO = `export default {
  fetch(_: Request, env: Record<string, string>) {
    return new Response(env['BUCKET'] + ' ' + String(env['KEY']).length)
  },
}
`
const KEY = ['--var', `key=${SECRET}`]

test('deploy shows the plan, makes what the file has, and prints addresses and joules', async () => {
  const file = stackOf('shop', { 'ergon.hcl': SHOP, 'hello.ts': HELLO })
  const planned = await plan(file, ...KEY, '--detailed-exitcode')
  assert.equal(planned.code, 2, planned.stderr)
  assert.match(planned.stdout, /^shop: 2 changes$/m)
  assert.match(planned.stdout, /^ {2}\+ bucket\.plan-photos +versioning on$/m)
  assert.match(planned.stdout, /^ {2}\+ function\.plan-hello .*memory 128MB.*env\.KEY \(hidden\)$/m)
  const unconfirmed = await cli('deploy', '--file', file, ...KEY)
  assert.equal(unconfirmed.code, 2)
  assert.match(
    unconfirmed.stderr,
    /The plan is not confirmed\n {2}try: the same command with --yes/,
  )
  const made = await deploy(file, ...KEY)
  assert.equal(made.code, 0, made.stderr)
  const url = `${String(ergon.ready['functions_url'])}/plan-hello`
  assert.match(made.stderr, /^ {2}function\.plan-hello +done \(\d/m)
  assert.ok(
    made.stdout.split('\n').some((line) => line.startsWith('address ') && line.endsWith(` ${url}`)),
    made.stdout,
  )
  assert.match(made.stdout, /^key +\(sensitive\)$/m)
  assert.match(
    made.stdout,
    /^joules {2}[\d.]+ J of this stack today · [\d.]+ W now · account [\d.]+ W · [\d.]+ J today$/m,
  )
  assert.equal(await textAt('/plan-hello'), `plan-photos ${SECRET.length}`)
  for (const text of [planned.stdout, made.stdout, made.stderr]) assert.ok(!text.includes(SECRET))
  const again = await plan(file, ...KEY, '--detailed-exitcode')
  assert.deepEqual([again.code, again.stdout], [0, 'shop: nothing to change\n'])
})

test('the account pays for the work of the application, once for each deployment', async () => {
  const [charged] = await until(() =>
    ergon.sql<{ charges: number; energy: string; deployments: number }>(
      `select count(*)::int as charges, sum(c.energy_nj)::text as energy, count(distinct c.resource)::int as deployments
       from charges c join deployments d on c.resource = d.id and d.stack = 'shop'
       where c.operation = 'deployment.apply' having count(*) > 0`,
    ),
  )
  assert.equal(charged.deployments, 1)
  // Two where a minute ends in between.
  assert.ok(charged.charges <= 2, `${charged.charges} charges`)
  assert.ok(Number(charged.energy) > 0)
})

test('the state has no value of a sensitive variable, nor what an ended deployment was made of', async () => {
  const [dump] = await ergon.sql<{ text: string }>(
    `select (select json_agg(d)::text from deployments d) || (select json_agg(s)::text from deployment_steps s)
       || (select json_agg(r)::text from stack_resources r) as text`,
  )
  assert.ok(dump !== undefined && dump.text.includes('plan-photos'))
  assert.ok(!dump.text.includes(SECRET) && !dump.text.includes(SECRET.toUpperCase()))
  const open = await ergon.sql(
    "select id from deployments where sealed_input is not null and status <> 'running'",
  )
  assert.deepEqual(open, [])
})

test('a change is one line of the plan, and changes by other means are said', async () => {
  const file = stackOf('shop', {
    'ergon.hcl': SHOP.replace('route =', 'memory = "192MB"\n  route ='),
  })
  assert.equal((await cli('fn', 'budget', 'plan-hello', '20 kJ/day')).code, 0)
  const planned = await plan(file, ...KEY)
  assert.match(
    planned.stdout,
    /~ function\.plan-hello +memory 128MB → 192MB, energy_budget 20 kJ\/day → none, .*changed by other means: energy_budget/,
  )
  assert.equal((await deploy(file, ...KEY)).code, 0)
  assert.match((await cli('fn', 'show', 'plan-hello')).stdout, /^energy budget +none$/m)
  assert.match((await plan(file, ...KEY)).stdout, /nothing to change/)
})

test('a version that cannot start fails the deployment, which says what was done; the old one answers', async () => {
  const file = stackOf('shop', {
    'ergon.hcl': `${SHOP}bucket "plan-later" {\n}\nfunction "plan-next" {\n  file = "next.ts"\n  env = { A = function.plan-hello.url }\n}\n`,
    'hello.ts': "throw new Error('not today')\n",
    'next.ts': functionOf('next'),
  })
  const failed = await deploy(file, ...KEY)
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /ergon\.hcl:8:1: function\.plan-hello: .*not today/)
  assert.match(
    failed.stderr,
    /Done: bucket\.plan-later\. Failed: function\.plan-hello\. Not done: function\.plan-next\./,
  )
  assert.equal(await textAt('/plan-hello'), `plan-photos ${SECRET.length}`)
  const planned = await plan(file, ...KEY)
  assert.match(planned.stdout, /~ function\.plan-hello +code /)
  stackOf('shop', { 'hello.ts': HELLO.replace("+ ' ' +", "+ ' of ' +") })
  assert.equal((await deploy(file, ...KEY)).code, 0)
  assert.equal(await textAt('/plan-hello'), `plan-photos of ${SECRET.length}`)
  assert.equal(await textAt('/plan-next'), 'next')
})

test('the requests at once of a function are those of the file, or by default again', async () => {
  const text = 'function "narrow" {\n file = "f.ts"\n route = "/narrow"\n}\n'
  const atOnce = async (description: string, change: RegExp): Promise<string> => {
    const file = stackOf('narrow', { 'ergon.hcl': description, 'f.ts': functionOf('x') })
    assert.match((await plan(file)).stdout, change)
    assert.equal((await deploy(file)).code, 0)
    assert.match((await plan(file)).stdout, /nothing to change/)
    return (await cli('fn', 'show', 'narrow')).stdout
  }
  const narrow = text.replace('}', 'concurrency = 3\n}')
  assert.match(await atOnce(narrow, /concurrency 3/), /^at once +3 requests$/m)
  assert.match(
    await atOnce(text, /~ function\.narrow +concurrency 3 → none$/m),
    /^at once +20 requests$/m,
  )
})

test('resources that left the file are deleted, but data only where that is allowed', async () => {
  const put = await fetch(`${ergon.baseUrl}/plan-photos/a.txt`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${ergon.token}` },
    body: 'x',
  })
  assert.equal(put.status, 200)
  const file = stackOf('shop', {
    'ergon.hcl': 'function "plan-other" {\n  file = "next.ts"\n  route = "/plan-hello"\n}\n',
  })
  const kept = await deploy(file)
  assert.equal(kept.code, 0, kept.stderr)
  assert.match(kept.stderr, /- bucket\.plan-later/)
  assert.match(kept.stderr, /! bucket\.plan-photos +.*1 versions of objects.*--allow-delete/)
  // Its route was another function's, which went first.
  assert.equal(await textAt('/plan-hello'), 'next')
  const gone = await deploy(file, '--allow-delete')
  assert.match(gone.stderr, /bucket\.plan-photos +done/)
  const destroyed = await cli('destroy', '--file', file, '--yes')
  assert.equal(destroyed.code, 0, destroyed.stderr)
  assert.match(destroyed.stderr, /- function\.plan-other/)
  assert.doesNotMatch((await cli('fn', 'list')).stdout, /plan-/)
  assert.deepEqual(await ergon.sql("select address from stack_resources where stack = 'shop'"), [])
})

test('one deployment of a stack runs at a time, and an old plan is refused', async () => {
  const slow = 'await new Promise((done) => setTimeout(done, 2500))\n' + functionOf('slow')
  const description = 'function "plan-slow" {\n  file = "slow.mjs"\n}\n'
  const body = {
    stack: 'slow',
    description,
    files: { 'slow.mjs': { file: 'slow.mjs', source: slow } },
  }
  const dry = deploymentPlan.parse((await ask({ ...body, dry_run: true })).body)
  const old = await ask({
    ...body,
    description: `${description}bucket "plan-slow" {\n}\n`,
    plan: dry.plan,
  })
  assert.deepEqual([old.status, old.body['title']], [409, 'plan_changed'])
  const first = await ask({ ...body, plan: dry.plan })
  assert.equal(first.status, 201, JSON.stringify(first.body))
  const begun = deploymentReply.parse(first.body)
  const second = await ask(body)
  assert.deepEqual(
    [second.status, second.body['title'], second.body['deployment']],
    [409, 'deployment_running', begun.id],
  )
  const shown = await cli('deployments', 'show', begun.id, '--watch')
  assert.equal(shown.code, 0, shown.stderr)
  assert.equal(await textAt('/plan-slow'), 'slow')
  assert.match(
    (await cli('deployments', 'list', '--stack', 'slow')).stdout,
    new RegExp(`^${begun.id} +slow +done +1 `, 'm'),
  )
  assert.match(
    (await cli('deployments', 'show', 'dep_none', '--json')).stderr,
    /deployment_not_found/,
  )
  const other = await ask({ ...body, stack: 'other', dry_run: true })
  assert.deepEqual([other.status, other.body['title']], [409, 'resource_in_other_stack'])
  assert.equal((await ask({ stack: 'slow', description: '' })).status, 201)
})

test('a deployment is cancelled while a step of it waits, and the stack can be deployed again at once', async () => {
  const endless = 'await new Promise((done) => setTimeout(done, 60_000))\n' + functionOf('never')
  const stack = 'cancelled'
  const description =
    'bucket "plan-kept" {\n}\nfunction "plan-never" {\n  file = "never.mjs"\n}\nwebhook "w" {\n  url = "https://example.com/never"\n  events = ["balance.low"]\n  description = function.plan-never.url\n}\n'
  const files = { 'never.mjs': { file: 'never.mjs', source: endless } }
  const { id } = deploymentReply.parse((await ask({ stack, description, files })).body)
  const [kept] = await until(() =>
    ergon.sql(
      "select status from deployment_steps where deployment = $1 and kind = 'bucket' and status = 'done'",
      [id],
    ),
  )
  assert.deepEqual(kept, { status: 'done' })
  const cancelled = await cli('deployments', 'cancel', id)
  assert.equal(cancelled.code, 0, cancelled.stderr)
  assert.match(cancelled.stderr, new RegExp(`^cancelled ${id}: what is done stays$`, 'm'))
  assert.match(
    cancelled.stderr,
    /^Done: bucket\.plan-kept\. Failed: function\.plan-never\. Not done: webhook\.w\.$/m,
  )
  const shown = await cli('deployments', 'show', id, '--watch')
  assert.equal(shown.code, 1)
  assert.match(shown.stderr, /The deployment was cancelled/)
  const next = await ask({ stack, description: '' })
  assert.equal(next.status, 201, JSON.stringify(next.body))
  const { id: removal } = deploymentReply.parse(next.body)
  assert.equal((await cli('deployments', 'show', removal, '--watch')).code, 0)
  const late = await cli('deployments', 'cancel', removal, '--json')
  assert.match(late.stderr, /deployment_ended/)
})

test('a deployment that cannot be read fails, and others go on', async () => {
  const slow = 'await new Promise((done) => setTimeout(done, 1500))\n' + functionOf('torn')
  const files = { 'torn.mjs': { file: 'torn.mjs', source: slow } }
  const description =
    'function "plan-torn" {\n  file = "torn.mjs"\n}\nbucket "plan-torn" {\n}\nwebhook "w" {\n  url = "https://example.com/torn"\n  events = ["balance.low"]\n  description = function.plan-torn.url\n}\n'
  const begun = deploymentReply.parse((await ask({ stack: 'torn', description, files })).body)
  await ergon.sql("update deployments set sealed_input = 'e1.AAAA' where id = $1", [begun.id])
  const shown = await cli('deployments', 'show', begun.id, '--watch')
  assert.equal(shown.code, 1)
  assert.match(shown.stderr, /Could not decrypt a secret/)
  assert.equal((await ask({ stack: 'torn', description: '' })).status, 201)
})

test('faults of a description and of what it needs are told with their places', async () => {
  const refused = async (description: string, more: object = {}) => {
    const { status, body } = await ask({ stack: 'bad', description, dry_run: true, ...more })
    assert.equal(status, 422, JSON.stringify(body))
    assert.equal(body['title'], 'description_invalid')
    return String(body['detail'])
  }
  assert.match(
    await refused('bucket "a-b" {\n  versionin = 1\n}\n'),
    /ergon\.hcl:2:3: .*did you mean/,
  )
  assert.match(
    await refused('\nfunction "f" {\n  file = "f.ts"\n}\n'),
    /ergon\.hcl:2:1: Could not find the file in the deployment: f\.ts/,
  )
  assert.match(
    await refused('function "f" {\n  file = "../f.ts"\n}\n'),
    /:2:\d+: Expected a relative path/,
  )
  assert.match(
    await refused('bucket "a-b" {\n  region = "moon"\n}\n'),
    /:1:1: There is no region "moon"/,
  )
  const hidden = `variable "key" {\n  sensitive = true\n}\n`
  for (const wrong of ['region = var.key', 'versioning = "${var.key}"'])
    assert.match(
      await refused(`bucket "a-b" {\n  ${wrong}\n}\n${hidden}`, { variables: { key: SECRET } }),
      /:[12]:\d+: (A hidden value does not fit here|Expected true or false, found a hidden value)$/m,
    )
  const many = Array.from({ length: 201 }, (_, n) => `bucket "many-${n}" {\n}\n`).join('')
  assert.match(await refused(many), /Expected at most 200 resources in a file/)
  const missing = stackOf('missing', { 'ergon.hcl': '\nfunction "f" {\n  file = "f.ts"\n}\n' })
  const { code, stderr } = await plan(missing)
  assert.equal(code, 1)
  assert.match(stderr, /ergon\.hcl:3:10: There is no file f\.ts of function f/)
  const { code: twisted, stderr: why } = await plan(missing, '--var-file', missing)
  assert.equal(twisted, 1)
  assert.match(why, /ergon\.hcl:2:1: Expected lines such as tag = "1\.4\.2", found a block/)
})

test('reading a description is billed, also where it is applied, and an account does it twice at once', async () => {
  const description = `output "o" {\n  value = ${Array.from({ length: 20_000 }, () => 1).join('+')}\n}\n`
  const send = async (isDry: boolean, text = description) => {
    const answer = await fetch(`${ergon.baseUrl}/v1/deployments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ stack: 'heavy', description: text, dry_run: isDry }),
    })
    const said = await answer.text()
    const { status, headers } = answer
    return { status, headers, said, joules: Number(headers.get('x-energy-joules')) }
  }
  // Code that is still cold takes several times as much.
  for (let nth = 0; nth < 4; nth++) await send(true)
  const dry = await send(true)
  const real = await send(false)
  assert.deepEqual([dry.status, real.status], [200, 201])
  // Without the reading it was a thirtieth.
  assert.ok(real.joules > dry.joules / 8, `${real.joules} J, dry ${dry.joules} J`)
  // Each bucket is looked for, so the plans overlap.
  const buckets = Array.from({ length: 150 }, (_, n) => `bucket "many-${n}" {\n}\n`).join('')
  const many = await Promise.all(Array.from({ length: 8 }, () => send(true, buckets)))
  const refused = many.filter(({ status }) => status === 429)
  const statuses = many.map(({ status }) => status).join(' ')
  assert.match(statuses, /^(?=.*429)(200|429)( (200|429)){7}$/)
  assert.ok(refused.every(({ headers }) => headers.get('retry-after') === '1'))
  assert.match(refused[0]?.said ?? '', /2 plans of this account are running/)
})
