// A node that runs no functions and no containers any more: their deletions end all the same, with the files of volumes, and so
// does the deletion of their account.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { functionClient } from '../functions/function-client.ts'
import { until } from './workload-client.ts'
import { workloadsOfFile, type TestWorkloads } from './workloads-of-file.ts'

const NEEDS_ROOT = { skip: process.getuid?.() !== 0 && 'needs root' }

let ergon: TestWorkloads['ergon']
let client: TestWorkloads['client']
let image: TestWorkloads['image']
workloadsOfFile({}, (made) => {
  ;({ ergon, client, image } = made)
})

test(
  'a node that runs no functions and no containers ends their deletions',
  NEEDS_ROOT,
  async () => {
    const functions = functionClient(() => ergon)
    const one = await functions.deploy('left', 'export default () => new Response()')
    const volumes = [{ name: 'data', path: '/data', size: '16MB' }]
    const { id } = await client.deploy('left', { image, volumes })
    const files = join(ergon.dataFolder, 'volumes', id)
    assert.ok(existsSync(files))
    await ergon.restart({ ERGON_FUNCTIONS: 'off', ERGON_WORKLOADS: 'off' })
    assert.equal((await functions.api('DELETE', '/left')).status, 200)
    assert.equal((await client.api('DELETE', '/left')).status, 200)
    const actual = async () =>
      await ergon.sql<{ actual: string }>('select actual from resources where id = any ($1)', [
        [id, one.id],
      ])
    await until(actual, (rows) => rows.every((row) => row.actual === 'deleted'))
    assert.equal(existsSync(files), false)
    for (const kind of ['function', 'workload']) {
      const [left] = await ergon.sql<{ why: string | null }>(
        'select leave_resources($1, $2) as why',
        [ergon.account, kind],
      )
      assert.equal(left?.why, null)
    }
  },
)
