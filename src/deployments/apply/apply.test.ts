// Steps of deployments: what each makes, takes over, deletes and refuses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeploymentPlan } from '#contract/deployments/deployments.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { SLOW, bucketOf, faultOf, functionOf, stacksOfFile } from './stacks.fixture.ts'

const skip = whyNoState()
const { state, ask, follow, deploy, deleteByHand, bucketIds } = stacksOfFile()

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
  const { rows } = await state().query("select stack from stack_resources where name = 'again'")
  assert.deepEqual(rows, [{ stack: 'mine' }])
})

test(
  'a stack keeps digests alone of the attributes that its deployment left',
  { skip },
  async () => {
    const hook =
      'webhook "kept" {\n url = "https://example.com/hooks/a-secret-path"\n events = ["balance.low"]\n}\n'
    const made = await deploy('digests', `${bucketOf('digests')}${hook}`)
    assert.equal(made.status, 'done', JSON.stringify(made.steps))
    const { rows } = await state().query<{ name: string; value: string }>(
      "select kind || '.' || key as name, value from stack_resources, jsonb_each_text(applied) where stack = 'digests' order by 1",
    )
    assert.ok(rows.some(({ name }) => name === 'webhook.url'))
    for (const { name, value } of rows) assert.match(value, /^[\w-]{43}$/, name)
    // Another value is another digest: the plan says that it was changed by other means.
    await state().query(
      "update webhook_endpoints set description = 'by hand' where url like '%a-secret-path'",
    )
    const plan = await ask<DeploymentPlan>({
      stack: 'digests',
      description: `${bucketOf('digests')}${hook}`,
      dry_run: true,
    })
    assert.deepEqual(
      plan.steps.flatMap(({ notes }) => notes),
      ['changed by other means: description'],
    )
  },
)

test('a step does not take over what came after the plan', { skip }, async () => {
  const planned = await ask({ stack: 'planned', description: bucketOf('came') })
  await deploy('owner', 'bucket "came" {\n  versioning = true\n}\n')
  const taken = await follow(planned)
  assert.deepEqual([taken.status, faultOf(taken)?.code], ['failed', 'resource_in_other_stack'])
  const later = await ask({ stack: 'later', description: bucketOf('by-hand') })
  await deploy('maker', 'bucket "by-hand" {\n  versioning = true\n}\n')
  await state().query("delete from stack_resources where stack = 'maker'")
  const refused = await follow(later)
  assert.deepEqual([refused.status, faultOf(refused)?.code], ['failed', 'plan_changed'])
  const { rows } = await state().query(
    "select versioning from buckets where name in ('came', 'by-hand')",
  )
  assert.deepEqual(rows, [{ versioning: 'enabled' }, { versioning: 'enabled' }])
})

test('two stacks that take a resource over at once do not both have it', { skip }, async () => {
  await deploy('before', bucketOf('shared'))
  await state().query("delete from stack_resources where stack = 'before'")
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
  await state().query(
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

test('a step that is not there in its time is late', { skip }, async () => {
  const { id } = await deploy('late', functionOf('late'), SLOW)
  await state().query(
    "update deployment_steps set started_at = now() - interval '301 s' where deployment = $1",
    [id],
  )
  const late = await follow({ id })
  assert.deepEqual([late.status, faultOf(late)?.code], ['failed', 'resource_late'])
})

test('the needs of a resource are as its last deployment has them', { skip }, async () => {
  const both = `${bucketOf('need-one')}${bucketOf('need-two')}`
  const hookOf = (bucket: string) =>
    `webhook "w" {\n  url = "https://example.com/needs"\n  events = ["balance.low"]\n  description = bucket.${bucket}.name\n}\n`
  assert.equal((await deploy('needs', `${both}${hookOf('need-one')}`)).status, 'done')
  assert.equal((await deploy('needs', `${both}${hookOf('need-two')}`)).status, 'done')
  const { rows } = await state().query(
    "select needs from stack_resources where stack = 'needs' and kind = 'webhook'",
  )
  assert.deepEqual(rows, [{ needs: ['bucket.need-two'] }])
})
