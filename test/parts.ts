// A test file of several parts that ask the same Ergon, one part after the other: a start takes 6 s of CPU.
// Each part has models of its own and ends with books that add up.
import { after, before, describe } from 'node:test'
import { startErgon, type Ergon, type ErgonOptions } from './start-ergon.ts'

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
