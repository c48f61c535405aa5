// The stacks of examples/: each is deployed as its reader would, answers, has nothing left to change, and goes.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'

product(PLAIN)

const EXAMPLES: Readonly<Record<string, RegExp>> = {
  photos: /^Photographs go to example-photos$/m,
  notes: /^postgresql: example-notes$/m,
}

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

for (const [name, answer] of Object.entries(EXAMPLES))
  test(`the example ${name} deploys, answers and goes`, async () => {
    const file = join(import.meta.dirname, '../../examples', name, 'ergon.hcl')
    const made = await ergon.cli('deploy', '--file', file, '--yes', '--json')
    assert.equal(made.code, 0, made.stderr)
    const url = `${String(ergon.ready['functions_url'])}/example-${name}`
    assert.match(await (await fetch(url)).text(), answer)
    const again = await ergon.cli('plan', '--file', file)
    assert.equal(again.stdout, `${name}: nothing to change\n`)
    const gone = await ergon.cli('destroy', '--file', file, '--yes', '--allow-delete')
    assert.equal(gone.code, 0, gone.stderr)
    const left = await ergon.sql('select address from stack_resources where stack = $1', [name])
    assert.deepEqual(left, [])
  })
