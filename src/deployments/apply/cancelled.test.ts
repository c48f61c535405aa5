// Deployments that end before their last step: cancelled, or without the right of the token that asked for them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { present } from '#base/errors.ts'
import { deploymentSteps } from '#deployments/rows.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { endStep } from './end-step.ts'
import {
  ACCOUNT,
  SLOW,
  bucketOf,
  faultOf,
  functionOf,
  cancelDeployment,
  stacksOfFile,
} from './stacks.fixture.ts'

const skip = whyNoState()
const { state, ask, read, turn, follow, bucketIds } = stacksOfFile()
const cancel = (id: string) => cancelDeployment(state(), id)

/** A function, and a webhook that needs it. */
const chainOf = (name: string) =>
  `${functionOf(name)}webhook "${name}" {
  url         = "https://example.com/${name}"
  events      = ["balance.low"]
  description = function.${name}.url
}
`

const statusesOf = ({ steps }: { readonly steps: readonly { readonly status: string }[] }) =>
  steps.map(({ status }) => status)

test(
  'a cancelled deployment begins no further step, keeps what is done, and leaves its stack free',
  { skip },
  async () => {
    const two = `${bucketOf('kept')}${chainOf('slow')}`
    const { id } = await ask({ stack: 'ended', description: two, ...SLOW })
    await turn(id)
    while ((await turn(id)) === 'changed');
    assert.equal((await read(id)).status, 'running')
    const ended = await cancel(id)
    assert.equal(ended.status, 'cancelled')
    assert.deepEqual(statusesOf(ended).toSorted(), ['done', 'failed', 'skipped'])
    assert.equal(faultOf(ended)?.code, 'deployment_cancelled')
    // A turn that was under way, and a repeated request, change nothing.
    assert.equal(await turn(id), 'waits')
    assert.deepEqual(await cancel(id), ended)
    assert.equal((await bucketIds('kept')).length, 1)
    const { rows } = await state().query(
      "select action, details from audit_entries where action = 'deployment.cancel'",
    )
    assert.deepEqual(rows, [
      {
        action: 'deployment.cancel',
        details: { stack: 'ended', done: ['bucket.kept'], begun: ['function.slow'] },
      },
    ])
    const again = await ask({ stack: 'ended', description: bucketOf('kept') })
    assert.equal(again.status, 'running')
    assert.equal((await follow(again)).status, 'done')
    await assert.rejects(cancel(again.id), { code: 'deployment_ended' })
    await assert.rejects(cancel('dep_none'), { code: 'deployment_not_found' })
  },
)

test(
  'a step that is found there after its deployment was cancelled stays as it was',
  { skip },
  async () => {
    const { id } = await ask({ stack: 'raced', description: bucketOf('raced') })
    await turn(id)
    const [running] = await deploymentSteps(state(), id)
    await cancel(id)
    // As a turn does that has read the step before.
    await endStep(state(), { deployment: { id } }, present(running, 'it runs'), { status: 'done' })
    assert.deepEqual(statusesOf(await read(id)), ['failed'])
  },
)

test(
  'a deployment stops at its next step where its token was revoked, and says so',
  { skip },
  async () => {
    const { id } = await ask({
      stack: 'revoked',
      description: `${bucketOf('r-one')}${bucketOf('r-two')}`,
    })
    await state().query('update tokens set revoked_at = now() where account = $1', [ACCOUNT])
    try {
      const ended = await follow({ id })
      assert.deepEqual([ended.status, faultOf(ended)?.code], ['failed', 'token_revoked'])
      assert.deepEqual(statusesOf(ended), ['failed', 'skipped'])
      assert.deepEqual(await bucketIds('r-one'), [])
    } finally {
      await state().query('update tokens set revoked_at = null where account = $1', [ACCOUNT])
    }
  },
)

test('a deployment stops where its token has expired between two steps', { skip }, async () => {
  const { id } = await ask({
    stack: 'expired',
    description: `${bucketOf('e-one')}${chainOf('e')}`,
    ...SLOW,
  })
  await turn(id)
  const expire = (at: string) =>
    state().query(`update tokens set expires_at = ${at} where account = $1`, [ACCOUNT])
  assert.equal((await bucketIds('e-one')).length, 1)
  await expire("now() - interval '1 second'")
  try {
    await state().query(
      "update deployment_steps set status = 'done' where deployment = $1 and status = 'running'",
      [id],
    )
    const ended = await follow({ id })
    assert.deepEqual([ended.status, faultOf(ended)?.code], ['failed', 'token_revoked'])
  } finally {
    await expire('null')
  }
})
