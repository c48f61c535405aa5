// Pages of functions and workloads follow each change that a command line may make.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ROUTES } from '#contract/routes.ts'

/** Changes of the state of a resource, which the live stream tells by itself. */
const TOLD = ['delete', 'suspend', 'resume']

test('useCharges() of functions and workloads has each operation that changes one', () => {
  for (const kind of ['function', 'workload']) {
    const path = `${import.meta.dirname}/../pages/${kind}s/use-${kind}s.ts`
    const work = /const WORK = \[([^\]]*)\]/.exec(readFileSync(path, 'utf8'))?.[1] ?? ''
    const changes = ROUTES.flatMap(({ method, operation }) =>
      method !== 'GET' && operation.startsWith(`${kind}.`) ? [operation] : [],
    )
    assert.ok(changes.length > 5, `${kind}: ${changes.join(' ')}`)
    const missing = changes.filter(
      (operation) =>
        !TOLD.some((told) => operation === `${kind}.${told}`) && !work.includes(`'${operation}'`),
    )
    assert.deepEqual(missing, [], path)
  }
})
