// The acceptance tests against the shared product, and against proxies that spoil one figure: these must fail.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { openInstance } from '../../acceptance/world.ts'
import { acceptanceInstance } from '../acceptance-instance.ts'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { METERED } from '../settings.ts'
import { openSpoilingProxy, SPOILS, SPOILT_TRAILER, type Spoil } from '../spoiling-proxy.ts'

const PROGRAM = join(import.meta.dirname, '../../scripts/acceptance.ts')

product(METERED)
before(async () => openInstance(await acceptanceInstance(sharedErgon()), 'everything'))
await import('../../acceptance/all.ts')

/** The exit code of the acceptance program's suite "one number" behind a proxy. */
async function codeBehind(spoil: Spoil): Promise<number> {
  const { baseUrl, token } = sharedErgon()
  await using proxy = await openSpoilingProxy(baseUrl, spoil)
  // Inside a test runner another one runs nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--base-url', proxy.baseUrl, '--token', token]
  const child = spawn(process.execPath, ['--test-name-pattern=one number', PROGRAM, ...words], {
    env,
    stdio: 'ignore',
  })
  const [code] = await once(child, 'exit')
  return Number(code)
}

describe('the acceptance program', () => {
  test('passes behind a proxy that changes nothing', async () => {
    assert.equal(await codeBehind(() => undefined), 0)
  })
  test('fails where the joules of a header are others', async () => {
    assert.equal(
      await codeBehind(SPOILS['the joules of the header are others'] ?? assert.fail()),
      1,
    )
  })
  test('fails where the joules of a trailer are others', async () => {
    assert.equal(await codeBehind(SPOILT_TRAILER), 1)
  })
})

test('the books of all of it add up', async () => {
  assert.deepEqual(await bookFaults(sharedErgon()), [])
})
