// Functions of description files: which version and which triggers are wanted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeploymentPlan } from '#contract/deployments/deployments.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { ACCOUNT, SLOW, bucketOf, faultOf, functionOf, stacksOfFile } from './stacks.fixture.ts'

const skip = whyNoState()
const { state, ask, follow, deploy, changesOf, functionRow, start } = stacksOfFile()

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
    await state().query("select fail_function($1, 2, 'it throws')", [id])
    assert.equal(faultOf(await follow(broken))?.code, 'resource_failed')
    const budget = functionOf('back').replace('}', '  energy_budget = "5 kJ/day"\n}')
    const again = await deploy('back', budget, SLOW)
    assert.deepEqual([again.status, (await functionRow('back')).version], ['running', 1])
    await start('back')
    assert.equal((await follow(again)).status, 'done')
  },
)

test(
  'triggers and the schedule that the file leaves out go with its next deployment',
  { skip },
  async () => {
    assert.equal((await deploy('events', bucketOf('events-in'))).status, 'done')
    const events = '  on = "bucket/events-in/object-created"\n  schedule = "0 6 1 1 *"\n}'
    await deploy('events', bucketOf('events-in') + functionOf('events').replace('}', events), SLOW)
    await start('events')
    await state().query("select end_deployment(id, 'done', '[]') from deployments")
    const versionOf = async () =>
      (
        await state().query(
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
  'after a version that failed, the same file wants the live one again, also a file that adopts it',
  { skip },
  async () => {
    const first = await deploy('again-a', functionOf('again'), SLOW)
    await start('again')
    assert.equal((await follow(first)).status, 'done')
    for (const stack of ['again-a', 'again-b']) {
      const { id, version } = await functionRow('again')
      await state().query("select deploy_function($1, 'again', 'local', 9, '{}', $2, 9)", [
        ACCOUNT,
        JSON.stringify({ file: 'f.mjs', source: 'throw 1' }),
      ])
      await state().query(
        "select fail_function($1, (select version from resources where id = $1), 'it throws')",
        [id],
      )
      // As if the stack had never been there.
      await state().query('delete from stack_resources where stack <> $1', [stack])
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
