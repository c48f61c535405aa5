import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { brokenInvariants } from './model-books.ts'
import { commands, newWorld, type Real } from './tick-commands.fixture.ts'
import { openLedgerState } from './test-state.fixture.ts'
import { dumpModel, dumpState } from './tick-dump.fixture.ts'

const skip = whyNoState()
const RUNS = Number(process.env['ERGON_RUNS'] ?? 8)
let server: TestUrl
before(async () => {
  if (skip === false) server = await openTestUrl()
})
after(async () => await server?.[Symbol.asyncDispose]())

test('tick() and the other functions do what the model does', { skip }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands(), { maxCommands: 60, size: 'max' }), async (steps) => {
      await using state = await openLedgerState(server.of, 1)
      const real: Real = {
        state,
        async check(world) {
          const { dump, faults } = await dumpState(state)
          assert.deepEqual(dump, dumpModel(world.books))
          assert.deepEqual(faults, [])
          assert.deepEqual(brokenInvariants(world.books), [])
        },
      }
      await fc.asyncModelRun(() => newWorld(real), steps)
    }),
    { numRuns: RUNS },
  )
})
