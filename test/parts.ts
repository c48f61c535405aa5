// A test file of several parts that ask the same Ergon, one part after the other: a start takes 6 s of CPU.
// Each part has models of its own and ends with books that add up.
import { after, afterEach, before, describe, type TestContext } from 'node:test'
import { LOG_HEAD } from '../scripts/test-reporter.ts'
import { startErgon, type Ergon, type ErgonOptions } from './start-ergon.ts'

const LOG_LINES_SHOWN = 20

// A test file is a process: it has one.
let running: Ergon | undefined

/** Starts an Ergon for the parts of this file: each one's tests and hooks are a suite. */
export function testParts(
  options: ErgonOptions,
  parts: Readonly<Record<string, () => Promise<unknown>>>,
): void {
  before(async () => {
    running = await startErgon(options)
  })
  after(() => running?.stop())
  afterEach((context) => {
    // The types know neither that it is a test's, nor that it says how that went.
    const test = context as TestContext & { readonly passed: boolean }
    if (test.passed) return
    const lines = (running?.stderr() ?? 'it did not start').trim().split('\n')
    test.diagnostic(LOG_HEAD + lines.slice(-LOG_LINES_SHOWN).join('\n'))
  })
  for (const [name, load] of Object.entries(parts))
    describe(name, async () => {
      await load()
    })
}

/** The Ergon of this test file, for the hooks and tests of a part. */
export function sharedErgon(): Ergon {
  if (running === undefined) throw new TypeError('no Ergon yet: ask in a hook or a test')
  return running
}
