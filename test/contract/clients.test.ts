// The acceptance tests against the shared product, and against proxies that spoil one figure: these must fail.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
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

/** The exit code of the acceptance program's suite "one number" behind a proxy, and its output. */
async function runBehind(spoil: Spoil): Promise<{ code: number; output: string }> {
  const { baseUrl, token } = sharedErgon()
  await using proxy = await openSpoilingProxy(baseUrl, spoil)
  // Inside a test runner another one runs nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--base-url', proxy.baseUrl, '--token', token, '--only', 'one-number']
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [[code], output] = await Promise.all([once(child, 'close'), text(child.stdout)])
  return { code: Number(code), output }
}

describe('the acceptance program', () => {
  test('passes behind a proxy that changes nothing', async () => {
    const { code, output } = await runBehind(() => undefined)
    assert.equal(code, 0, output)
  })
  test('fails where the joules of a header are others', async () => {
    const spoil = SPOILS['the joules of the header are others'] ?? assert.fail()
    const { code, output } = await runBehind(spoil)
    assert.equal(code, 1)
    assert.match(output, /✖ of chat: header, body/)
  })
  test('fails where the joules of a trailer are others', async () => {
    const { code, output } = await runBehind(SPOILT_TRAILER)
    assert.equal(code, 1)
    assert.match(output, /✖ of a stream[^]*ℹ fail 1\n/)
  })
})

test('the books of all of it add up', async () => {
  assert.deepEqual(await bookFaults(sharedErgon()), [])
})
