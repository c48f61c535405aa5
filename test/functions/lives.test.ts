// The lives of the processes of functions: asleep, awake, ended by a budget, by a kill and by a restart.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { newPayer } from '../payments/client.ts'
import { product, sharedErgon } from '../product.ts'
import { BRIEF_FUNCTIONS } from '../settings.ts'
import { functionClient, testFiles, until } from './function-client.ts'

product(BRIEF_FUNCTIONS)
const { api, show, deploy, textAt, logsOf, pidOf, url } = functionClient(sharedErgon)
const fileOf = testFiles()

/** The limit of a command that fails soon. */
const WAIT_MS = 30_000

test('a function sleeps when nobody uses it, but not before its own work is done', async () => {
  await deploy(
    'worker',
    `export default (request, ctx) => {
       ctx.waitUntil((async () => {
         await new Promise((resolve) => setTimeout(resolve, 2500))
         console.log('the work is done')
       })())
       return new Response('answered')
     }`,
  )
  assert.deepEqual(await textAt('/worker'), [200, 'answered'])
  await pause(1800)
  assert.notEqual(await pidOf('worker'), 0)
  await until(
    () => logsOf('worker'),
    (text) => text.includes('the work is done'),
  )
  await until(
    () => pidOf('worker'),
    (pid) => pid === 0,
  )
  assert.deepEqual(await textAt('/worker'), [200, 'answered'])
})

/** On this machine, outside of its namespaces. */
const uidOf = (pid: number): string =>
  /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''

test('a function that wakes runs in a process that has waited, once, and one with more memory starts its own', async () => {
  const source = `let asked = 0
let release
const held = new Promise((resolve) => (release = resolve))
export default {
  async fetch({ url }) {
    if (url.endsWith('/held')) await held
    if (url.endsWith('/release')) release()
    return new Response(String(++asked))
  },
}`
  const spares = async (): Promise<number[]> =>
    (await sharedErgon().control('node.status')).cells.flatMap(({ name, state, pid }) =>
      name.startsWith('spare-') && state === 'ready' && pid !== null ? [pid] : [],
    )
  const asleep = (name: string) =>
    until(
      () => pidOf(name),
      (pid) => pid === 0,
    )
  await deploy('quick', source)
  await deploy('large', source, { memory: '200MB' })
  await Promise.all([asleep('quick'), asleep('large')])
  const waiting = await until(spares, ({ length }) => length === 2)
  assert.equal(new Set(waiting.map(uidOf)).size, 2)
  assert.deepEqual(await textAt('/large'), [200, '1'])
  assert.ok(!waiting.includes(await pidOf('large')))
  // A request that is open: on a busy machine the function would sleep again before it is looked at.
  const held = textAt('/quick/held')
  const pid = await until(
    () => pidOf('quick'),
    (one) => one !== 0,
  )
  assert.ok(waiting.includes(pid), `${pid} of ${waiting.join()}`)
  assert.deepEqual(await textAt('/quick/release'), [200, '1'])
  assert.deepEqual(await held, [200, '2'])
  // Another one follows, and no function gets a process that has run one.
  await until(spares, (pids) => pids.length === 2 && !pids.includes(pid))
  await asleep('quick')
  assert.deepEqual(await textAt('/quick'), [200, '1'])
  assert.notEqual(await pidOf('quick'), pid)
})

const CALM = `export default () => new Response('calm')`
const BURNING = `export default ({ url }) => {
  if (url.endsWith('/burn')) for (;;);
  return new Response('calm')
}`

test('the energy is billed to the function, and ends with its budget', async () => {
  await deploy('burner', BURNING, { energy_budget: '10 J/day', timeout_s: 60 })
  const [status, body] = await textAt('/burner/burn')
  assert.equal(status, 503)
  assert.match(body, /function_budget_exhausted/)
  const again = await textAt('/burner')
  assert.match(again[1], /function_budget_exhausted/)
  const used = await until(
    () => show('burner'),
    ({ energy_budget_used_j: usedJ }) => (usedJ ?? 0) > 5,
  )
  assert.ok((used.energy_budget_used_j ?? 0) <= 10)
  const [charge] = await sharedErgon().sql(
    "select count(*) from charges where resource = $1 and operation = 'function.standing'",
    [used.id],
  )
  assert.notEqual(charge?.['count'], '0')
  const byService = await sharedErgon().cli('usage', '--group-by', 'service', '--json')
  assert.match(byService.stdout, /"functions"/)
  assert.doesNotMatch(byService.stdout, /"databases"/)
  const byResource = await sharedErgon().cli('usage', '--group-by', 'resource')
  assert.match(byResource.stdout, /^KIND +RESOURCE +REQUESTS /)
  assert.match(byResource.stdout, /^function +burner +\d+ /m)
  const beganMs = performance.now()
  const late = await sharedErgon().cli('fn', 'deploy', fileOf('burner.mjs', CALM))
  assert.notEqual(late.code, 0)
  assert.match(late.stderr, /does not answer: Could not go on: the energy budget is used up/)
  assert.ok(performance.now() - beganMs < WAIT_MS)
  assert.match((await textAt('/burner'))[1], /function_budget_exhausted/)
  const raised = await sharedErgon().cli('fn', 'budget', 'burner', 'none')
  assert.equal(raised.code, 0, raised.stderr)
  await until(
    () => textAt('/burner'),
    ([, text]) => text === 'calm',
  )
})

const PUSD_PER_J = 69_444
/** Enough to be tried and to burn for a moment. */
const FEW_J = 15
/** Without the agent a refusal that the ingress keeps comes at once; any other does not come at all. */
const ALONE_MS = 5000
const TRIES = 3

/** The answer while the agent stands still; undefined where there is none. */
async function askedAlone(url: string): Promise<number | undefined> {
  const { pid } = sharedErgon()
  process.kill(pid, 'SIGSTOP')
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(ALONE_MS) })).status
  } catch {
    return undefined
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

test('a function whose account cannot pay is refused by the ingress alone, and funds end that at once', async () => {
  await deploy('resting', CALM)
  assert.equal((await sharedErgon().cli('fn', 'suspend', 'resting')).code, 0)
  await until(
    () => textAt('/resting'),
    ([status]) => status === 503,
  )
  const resting = `${url()}/resting`
  const isEndedByFunds = async (name: string): Promise<boolean> => {
    const owner = await newPayer(sharedErgon(), { scope: 'deploy' })
    const fund = (joules: number) =>
      sharedErgon().control('funds.add', {
        account: owner.account,
        pusd: String(joules * PUSD_PER_J),
      })
    await fund(FEW_J)
    const client = functionClient(() => ({ ...sharedErgon(), token: owner.token }))
    const poor = String((await client.deploy(name, BURNING, { timeout_s: 60 })).url)
    assert.equal((await fetch(`${poor}/burn`)).status, 402)
    // The other refusal begins to stand before this one. The end of a process gives energy back, maybe for one more answer.
    const text = await until(
      async () => {
        await fetch(resting)
        return await (await fetch(poor)).text()
      },
      (seen) => seen !== 'calm',
    )
    assert.match(text, /balance_depleted/)
    const alone = await askedAlone(poor)
    await fund(1000 * FEW_J)
    await until(
      async () => await (await fetch(poor)).text(),
      (seen) => seen === 'calm',
    )
    // A refusal that has stood for longer still stands: this one has not ended by its age.
    return alone === 402 && (await askedAlone(resting)) === 503
  }
  // Ten seconds may pass meanwhile on a busy machine.
  for (let nth = 1; !(await isEndedByFunds(`poor-${nth}`)); nth++) assert.ok(nth < TRIES)
})

test('functions answer without a gateway, after the ingress was killed, and after a restart', async () => {
  await deploy('lasting', 'export default async (request) => new Response(await request.text())')
  await sharedErgon().killCell('gw-1')
  assert.deepEqual(await textAt('/lasting', { method: 'POST', body: 'alone' }), [200, 'alone'])
  await sharedErgon().answers()
  await sharedErgon().killCell('ingress')
  await until(
    () => textAt('/lasting', { method: 'POST', body: 'back' }).catch(() => []),
    ([status]) => status === 200,
  )
  await sharedErgon().restart()
  // A 503 with Retry-After is permitted until the ledger answers.
  const [, again] = await until(
    () => textAt('/lasting', { method: 'POST', body: 'again' }),
    ([status]) => status === 200,
  )
  assert.equal(again, 'again')
})

test('a run that the end of the agent cuts off is made again', async () => {
  assert.equal((await sharedErgon().cli('storage', 'mb', 's3://cut-off')).code, 0)
  await deploy(
    'cut',
    `let begun = 0
     export default async (request) => {
       if (request.method === 'GET') return new Response(String(begun))
       begun++
       await new Promise((resolve) => setTimeout(resolve, 1500))
       console.log('the run has ended')
       return new Response()
     }`,
    { on: ['bucket/cut-off/object-created'] },
  )
  const path = fileOf('object.txt', 'x')
  assert.equal((await sharedErgon().cli('storage', 'cp', path, 's3://cut-off/one')).code, 0)
  await until(
    () => textAt('/cut'),
    ([, begun]) => begun === '1',
  )
  await sharedErgon().kill()
  await sharedErgon().restart()
  await until(
    () => logsOf('cut'),
    (text) => text.includes('the run has ended'),
  )
  await until(
    async () => (await api('GET', '/cut')).body.runs_waiting,
    (waiting) => waiting === 0,
  )
})
