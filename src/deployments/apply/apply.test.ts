// Deployments on a state of their own, with the parts of products, and a turn whenever a test takes one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep, systemClock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import { newEncryptionKey } from '#base/encryption.ts'
import type { Logger } from '#base/log.ts'
import { DEPLOYMENTS_RUNNING_MAX } from '#contract/deployment-limits.ts'
import {
  parseDeploymentRequest,
  type DeploymentPlan,
  type DeploymentReply,
} from '#contract/deployments.ts'
import { createDeploymentCreate } from '#deployments/operations/deployment-create.ts'
import { makePlan } from '#deployments/plan/make-plan.ts'
import { deploymentReplyOf, deploymentSteps, findDeployment } from '#deployments/rows.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { openStackParts } from '#processes/stack-parts.ts'
import type { State } from '#state/connect.ts'
import { followDeployments } from './follow-deployments.ts'
import { takeTurn } from './take-turn.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const key = newEncryptionKey()
const parts = openStackParts({
  secret: key,
  settings: {
    storage: {
      storage: { region: 'local', bucketsMax: 50, keyIds: [], acls: false, encrypts: true },
    },
    functions: {
      address: {
        host: 'functions.localhost',
        origin: 'http://localhost:8082',
        named: 'http://*.functions.localhost:8082',
      },
      runtimes: ['node24'],
      environmentKey: newEncryptionKey(),
      region: 'local',
    },
    webhooks: { isOn: true, networks: [] },
  },
})
const nothing = () => undefined
const log: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

let state: State
ledgerOfFile(4, async (made) => {
  state = made
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  await addTestMember(state, ACCOUNT)
})

/** The plan of a dry run, or the deployment before its first turn. */
async function ask<Reply = DeploymentReply>(body: object, session?: object): Promise<Reply> {
  const made = await createDeploymentCreate({ state, parts, key, clock: systemClock })({
    who: { account: ACCOUNT, token: `tok_${ACCOUNT}`, member: `mem_${ACCOUNT}`, session },
    spend: { requestId: 'req_a', mark: () => undefined },
    parameters: {},
    body: parseDeploymentRequest(body),
  } as never)
  return (made as unknown as { body: () => Reply }).body()
}

async function read(id: string): Promise<DeploymentReply> {
  const row = await findDeployment(state, ACCOUNT, id)
  return deploymentReplyOf(row, await deploymentSteps(state, id))
}

const turn = (id: string) => takeTurn({ state, parts, key, log }, id)

/** Takes turns until it has ended, or waits for what only a reconciler brings about. */
async function follow({ id }: { id: string }): Promise<DeploymentReply> {
  while ((await turn(id)) === 'changed');
  return await read(id)
}

const deploy = async (stack: string, description: string, more: object = {}) =>
  await follow(await ask({ stack, description, ...more }))

/** In the plan. */
const changesOf = async (stack: string, description: string): Promise<number> =>
  (await ask<DeploymentPlan>({ stack, description, dry_run: true, ...SLOW })).changes

const bucketOf = (name: string) => `bucket "${name}" {\n}\n`
const deleteByHand = (name: string) => state.query('delete from buckets where name = $1', [name])
const bucketIds = async (name: string) =>
  (await state.query<{ id: string }>('select id::text from buckets where name = $1', [name])).rows
const faultOf = ({ steps }: DeploymentReply) => steps.find(({ fault }) => fault)?.fault

test('a stack deletes what it made, not what has its name since', { skip }, async () => {
  const first = await deploy('mine', bucketOf('again'))
  assert.equal(first.status, 'done', JSON.stringify(first.steps))
  await deleteByHand('again')
  assert.equal((await deploy('theirs', bucketOf('again'))).status, 'done')
  const held = await bucketIds('again')
  const destroyed = await deploy('mine', '')
  assert.deepEqual(destroyed.steps[0]?.notes, ['it was deleted by other means'])
  assert.deepEqual([destroyed.status, await bucketIds('again')], ['done', held])

  const late = await ask({ stack: 'theirs', description: '' })
  await deleteByHand('again')
  assert.equal((await deploy('mine', bucketOf('again'))).status, 'done')
  const made = await bucketIds('again')
  assert.notDeepEqual(made, held)
  assert.equal((await follow(late)).status, 'done')
  assert.deepEqual(await bucketIds('again'), made)
  const { rows } = await state.query("select stack from stack_resources where name = 'again'")
  assert.deepEqual(rows, [{ stack: 'mine' }])
})

test('a step does not take over what came after the plan', { skip }, async () => {
  const planned = await ask({ stack: 'planned', description: bucketOf('came') })
  await deploy('owner', 'bucket "came" {\n  versioning = true\n}\n')
  const taken = await follow(planned)
  assert.deepEqual([taken.status, faultOf(taken)?.code], ['failed', 'resource_in_other_stack'])
  const later = await ask({ stack: 'later', description: bucketOf('by-hand') })
  await deploy('maker', 'bucket "by-hand" {\n  versioning = true\n}\n')
  await state.query("delete from stack_resources where stack = 'maker'")
  const refused = await follow(later)
  assert.deepEqual([refused.status, faultOf(refused)?.code], ['failed', 'plan_changed'])
  const { rows } = await state.query(
    "select versioning from buckets where name in ('came', 'by-hand')",
  )
  assert.deepEqual(rows, [{ versioning: 'enabled' }, { versioning: 'enabled' }])
})

test('two stacks that take a resource over at once do not both have it', { skip }, async () => {
  await deploy('before', bucketOf('shared'))
  await state.query("delete from stack_resources where stack = 'before'")
  const asked = await Promise.all(
    ['left', 'right'].map((stack) => ask({ stack, description: bucketOf('shared') })),
  )
  const ended = await Promise.all(asked.map(follow))
  assert.deepEqual(ended.map(({ status }) => status).toSorted(), ['done', 'failed'])
  assert.ok(ended.some((one) => faultOf(one)?.code === 'resource_in_other_stack'))
})

test('data that came after the plan is not deleted without the word', { skip }, async () => {
  await deploy('full', bucketOf('filled'))
  const going = await ask({ stack: 'full', description: '' })
  const [bucket] = await bucketIds('filled')
  await state.query(
    'insert into bucket_usage (bucket, stripe, bytes, versions) values ($1, 0, 1, 1)',
    [bucket?.id],
  )
  const kept = await follow(going)
  assert.deepEqual([kept.status, faultOf(kept)?.code], ['failed', 'resource_holds_data'])
  assert.deepEqual(await bucketIds('filled'), [bucket])
})

test('an output that the state cannot hold ends its deployment', { skip }, async () => {
  const output = 'output "torn" {\n  value = "a\\u0000b"\n}\n'
  const ended = await deploy('torn', `${bucketOf('torn')}${output}`)
  assert.equal(ended.status, 'failed')
  assert.equal(ended.steps[0]?.status, 'done')
})

const SLOW = { files: { 'f.mjs': { file: 'f.mjs', source: 'export default 1' } } }
const functionOf = (name: string) => `function "${name}" {\n  file = "f.mjs"\n}\n`
const endedOf = async (id: string): Promise<string> => {
  for (;;) {
    const { rows } = await state.query<{ status: string }>(
      'select status from deployments where id = $1',
      [id],
    )
    if (rows[0]?.status !== 'running') return rows[0]?.status ?? ''
    await sleep(20)
  }
}

test('deployments that wait, or whose turns fail, make no other one wait', { skip }, async () => {
  const waiting: string[] = []
  for (let n = 0; n < 21; n++) {
    const asked = { stack: `slow-${n}`, description: functionOf(`slow-${n}`), ...SLOW }
    waiting.push((await ask(asked)).id)
  }
  const { id } = await ask({ stack: 'quick', description: bucketOf('quick') })
  const stop = new AbortController()
  const takes = (one: string) =>
    one === waiting[0] ? Promise.reject(new TypeError('torn')) : turn(one)
  const following = followDeployments({ state, log, takeTurn: takes }, stop.signal)
  const status = await Promise.race([endedOf(id), sleep(30_000).then(() => 'late')])
  stop.abort()
  await following
  assert.equal(status, 'done')
})

test(
  'an account has so many deployments at once, whatever stacks they are of',
  { skip },
  async () => {
    const { rows } = await state.query<{ count: number }>(
      "select count(*)::int from deployments where status = 'running'",
    )
    const asked = Array.from(
      { length: DEPLOYMENTS_RUNNING_MAX + 3 - (rows[0]?.count ?? 0) },
      (_, n) => ask({ stack: `many-${n}`, description: bucketOf(`many-${n}`) }),
    )
    const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected')
    assert.deepEqual(
      refused.map((one) => (one as PromiseRejectedResult).reason.code),
      Array.from({ length: 3 }, () => 'too_many_deployments'),
    )
    await state.query("select end_deployment(id, 'failed', '[]') from deployments")
    await ask({ stack: 'many', description: bucketOf('many') })
  },
)

const functionRow = async (name: string) => {
  const { rows } = await state.query<{ id: string; version: number; revision: string }>(
    'select id, version, revision::text from resources where name = $1',
    [name],
  )
  return present(rows[0], 'it was deployed')
}
/** As its reconciler does where the wanted version starts. */
async function start(name: string): Promise<void> {
  const { id, version, revision } = await functionRow(name)
  await state.query('select make_function_live($1, $2)', [id, version])
  await state.query(
    "select move_resource($1, 'deploying') from resources where id = $1 and actual = 'pending'",
    [id],
  )
  await state.query("select move_resource($1, 'deployed', null, $2)", [id, revision])
}

test(
  'after a version that failed, the live one with a budget is wanted again',
  { skip },
  async () => {
    const first = await deploy('back', functionOf('back'), SLOW)
    await start('back')
    assert.equal((await follow(first)).status, 'done')
    const broken = await deploy('back', functionOf('back'), {
      files: { 'f.mjs': { file: 'f.mjs', source: 'throw 1' } },
    })
    const { id } = await functionRow('back')
    await state.query("select fail_function($1, 2, 'it throws')", [id])
    assert.equal(faultOf(await follow(broken))?.code, 'resource_failed')
    const budget = functionOf('back').replace('}', '  energy_budget = "5 kJ/day"\n}')
    const again = await deploy('back', budget, SLOW)
    assert.deepEqual([again.status, (await functionRow('back')).version], ['running', 1])
    await start('back')
    assert.equal((await follow(again)).status, 'done')
  },
)

test(
  'a plan has a keyed name: nobody without the key can try values of variables',
  { skip },
  async () => {
    const asked = parseDeploymentRequest({ stack: 'keyed', description: bucketOf('keyed') })
    const planWith = (one: string) =>
      makePlan(
        { state, parts, key: one, mark: () => undefined },
        { account: ACCOUNT, stack: 'keyed' },
        { input: asked, allowsDeletion: false },
      )
    const [plan, same, other] = [await planWith(key), await planWith(key), await planWith('other')]
    assert.equal(plan.hash, same.hash)
    assert.notEqual(plan.hash, other.hash)
  },
)

test('so many deployments are kept, the newest of them', { skip }, async () => {
  await addTestAccount(state, { id: 'acct_b', env: 'test', lowWater: 0n })
  for (const n of [1, 2, 3, 4, 5])
    await state.query(
      `select add_deployment($1, 'acct_b', $2, 'f', 't', 'r', 'p', false, 's', '[]', 3)`,
      [`dep_${n}`, `kept-${n}`],
    )
  const { rows } = await state.query<{ id: string }>(
    "select id from deployments where account = 'acct_b' order by id",
  )
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['dep_3', 'dep_4', 'dep_5'],
  )
})

test('a step that is not there in its time is late', { skip }, async () => {
  const { id } = await deploy('late', functionOf('late'), SLOW)
  await state.query(
    "update deployment_steps set started_at = now() - interval '301 s' where deployment = $1",
    [id],
  )
  const late = await follow({ id })
  assert.deepEqual([late.status, faultOf(late)?.code], ['failed', 'resource_late'])
})

test('what a resource needs is as its last deployment has it', { skip }, async () => {
  const both = `${bucketOf('need-one')}${bucketOf('need-two')}`
  const hookOf = (bucket: string) =>
    `webhook "w" {\n  url = "https://example.com/needs"\n  events = ["balance.low"]\n  description = bucket.${bucket}.name\n}\n`
  assert.equal((await deploy('needs', `${both}${hookOf('need-one')}`)).status, 'done')
  assert.equal((await deploy('needs', `${both}${hookOf('need-two')}`)).status, 'done')
  const { rows } = await state.query(
    "select needs from stack_resources where stack = 'needs' and kind = 'webhook'",
  )
  assert.deepEqual(rows, [{ needs: ['bucket.need-two'] }])
})

test(
  'triggers and the schedule that the file leaves out go with its next deployment',
  { skip },
  async () => {
    assert.equal((await deploy('events', bucketOf('events-in'))).status, 'done')
    const events = '  on = "bucket/events-in/object-created"\n  schedule = "0 6 1 1 *"\n}'
    await deploy('events', bucketOf('events-in') + functionOf('events').replace('}', events), SLOW)
    await start('events')
    await state.query("select end_deployment(id, 'done', '[]') from deployments")
    const versionOf = async () =>
      (
        await state.query(
          `select v.buckets, v.schedule from resources n
             join function_versions v on v.function = n.id and v.version = n.version where name = 'events'`,
        )
      ).rows
    assert.deepEqual(await versionOf(), [{ buckets: ['events-in'], schedule: '0 6 1 1 *' }])
    const without = await deploy('events', bucketOf('events-in') + functionOf('events'), SLOW)
    const step = without.steps.find(({ kind }) => kind === 'function')
    assert.deepEqual(
      step?.changes.map(({ attribute, before: old, after: next }) => [attribute, old, next]),
      [
        ['on', 'bucket/events-in/object-created', 'none'],
        ['schedule', '0 6 1 1 *', 'none'],
      ],
    )
    assert.deepEqual(await versionOf(), [{ buckets: [], schedule: null }])
    await start('events')
    assert.equal((await follow(without)).status, 'done')
    assert.equal(await changesOf('events', bucketOf('events-in') + functionOf('events')), 0)
  },
)

test(
  'a plan is refused where others have the route, or two of the file want it',
  { skip },
  async () => {
    const routed = (name: string, route: string) =>
      functionOf(name).replace('}', `  route = "${route}"\n}`)
    await deploy('routes-a', routed('routes-a', '/routes-a'), SLOW)
    const planOf = (stack: string, description: string) =>
      ask<DeploymentPlan>({ stack, description, dry_run: true, ...SLOW })
    await assert.rejects(planOf('routes-b', `\n${routed('routes-b', '/routes-a')}`), {
      code: 'description_invalid',
      message: "ergon.hcl:2:1: Could not use the route: /routes-a is another function's",
    })
    await assert.rejects(planOf('routes-b', routed('one', '/same') + routed('two', '/same')), {
      code: 'description_invalid',
      message: 'ergon.hcl:1:1: function.two has the same route',
    })
    // A route that the stack itself gives up is free.
    const next = routed('routes-a', '/routes-c') + routed('routes-d', '/routes-a')
    assert.equal((await planOf('routes-a', next)).changes, 2)
    assert.equal((await planOf('routes-a', routed('routes-e', '/routes-a'))).changes, 2)
  },
)

test(
  'after a version that failed, the same file wants the live one again, also a file that adopts it',
  { skip },
  async () => {
    const first = await deploy('again-a', functionOf('again'), SLOW)
    await start('again')
    assert.equal((await follow(first)).status, 'done')
    for (const stack of ['again-a', 'again-b']) {
      const { id, version } = await functionRow('again')
      await state.query("select deploy_function($1, 'again', 'local', 9, '{}', $2, 9)", [
        ACCOUNT,
        JSON.stringify({ file: 'f.mjs', source: 'throw 1' }),
      ])
      await state.query(
        "select fail_function($1, (select version from resources where id = $1), 'it throws')",
        [id],
      )
      // As if the stack had never been there.
      await state.query('delete from stack_resources where stack <> $1', [stack])
      const plan = await ask<DeploymentPlan>({
        stack,
        description: functionOf('again'),
        dry_run: true,
        ...SLOW,
      })
      assert.deepEqual([plan.steps[0]?.action, plan.steps[0]?.changes], ['update', []])
      assert.match(plan.steps[0]?.notes.at(-1) ?? '', /^it is tried again: .*it throws/)
      const again = await deploy(stack, functionOf('again'), SLOW)
      assert.deepEqual([again.status, (await functionRow('again')).version], ['running', version])
      await start('again')
      assert.equal((await follow(again)).status, 'done')
      assert.equal(await changesOf(stack, functionOf('again')), 0)
    }
  },
)

test('at the portal, a description that reads a secret wants a passkey', { skip }, async () => {
  const hook = 'webhook "w" {\n  url = "https://example.com/touch"\n  events = ["balance.low"]\n}\n'
  const reads = functionOf('reads').replace('}', '  env = { KEY = "${webhook.w.secret}x" }\n}')
  const asked = { stack: 'touch', description: hook + reads, ...SLOW }
  const sessionOf = (touchedUntilMs: number) => ({ isLimited: false, touchedUntilMs })
  const old = sessionOf(Date.now() - 1000)
  await assert.rejects(ask(asked, old), {
    code: 'touch_required',
    message: 'Could not deploy "touch", which reads webhook.w.secret: no passkey was used just now',
  })
  assert.equal((await ask<DeploymentPlan>({ ...asked, dry_run: true }, old)).changes, 2)
  const { id } = await ask({ ...asked, description: hook }, old)
  assert.equal((await follow({ id })).status, 'done')
  assert.equal((await ask(asked, sessionOf(Date.now() + 60_000))).status, 'running')
})
