// Plans before they are applied: their name, and their refusals.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDeploymentRequest, type DeploymentPlan } from '#contract/deployments/deployments.ts'
import { makePlan } from '#deployments/plan/make-plan.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { ACCOUNT, SLOW, bucketOf, functionOf, key, parts, stacksOfFile } from './stacks.fixture.ts'

const skip = whyNoState()
const { state, ask, deploy } = stacksOfFile()

test(
  'a plan has a keyed name: nobody without the key can try values of variables',
  { skip },
  async () => {
    const asked = parseDeploymentRequest({ stack: 'keyed', description: bucketOf('keyed') })
    const planWith = (one: string) =>
      makePlan(
        { state: state(), parts, key: one, mark: () => undefined },
        { account: ACCOUNT, stack: 'keyed' },
        { input: asked, allowsDeletion: false },
      )
    const [plan, same, other] = [await planWith(key), await planWith(key), await planWith('other')]
    assert.equal(plan.hash, same.hash)
    assert.notEqual(plan.hash, other.hash)
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
