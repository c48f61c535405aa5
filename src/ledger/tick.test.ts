import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { brokenInvariants } from './reference/books.ts'
import { commands, newWorld } from './tick-commands.fixture.ts'
import { openLedgerState } from './test-state.fixture.ts'
import type { Real } from './tick-step.fixture.ts'
import { dumpModel, dumpState, PREPARE_DUMP } from './tick-dump.fixture.ts'

const skip = whyNoState()
const RUNS = Number(process.env['ERGON_RUNS'] ?? 8)
/** The first history that finds a planted bug ends the search, and is not shrunk; a few histories can all miss the bug. */
const PLANTED_RUNS = 1000
let server: TestUrl
before(async () => {
  if (skip === false) server = await openTestUrl()
})
after(async () => await server?.[Symbol.asyncDispose]())

/** Histories in a state each; `plant` is a fault that its functions get before. */
const histories = (plant?: Plant): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.commands(commands(), { maxCommands: 60, size: 'max' }), async (steps) => {
      await using state = await openLedgerState(server.of, 1)
      if (plant !== undefined) await state.query(spoiled(plant))
      await state.query(PREPARE_DUMP)
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
    { numRuns: plant === undefined ? RUNS : PLANTED_RUNS, endOnFailure: plant !== undefined },
  )

test('tick() and the other functions do what the model does', { skip }, () => histories())

type Plant = { readonly right: string; readonly wrong: string }
const PLANTS: Readonly<Record<string, Plant>> = {
  'a debit that is not subtracted': {
    right: 'set posted = w.posted - d.taken, reserved',
    wrong: 'set posted = w.posted, reserved',
  },
  'a lease that is not brought back to less': {
    right: 'update set amount = excluded.amount',
    wrong: 'update set amount = greatest(leases.amount, excluded.amount)',
  },
  'an account number that is given twice': {
    right: 'c.before + r.nth_of_account',
    wrong: 'c.before + 1',
  },
  'a reserve that is recalled for nobody else': {
    right: 's.session <> me.id and',
    wrong: 'true and',
  },
  'a reserve that is drawn on and not less': {
    right: 'set amount = r.amount - m.drawn',
    wrong: 'set amount = r.amount',
  },
  'a reserve that is not filled again': {
    right: 'greatest(w.amount - l.amount, r.amount - r.wanted)',
    wrong: '0',
  },
  'a reserve that counts as the lease of another session': {
    right: 't.reserved - t.kept > coalesce(l.amount, 0)',
    wrong: 't.reserved > coalesce(l.amount, 0)',
  },
  'a budget that is lowered and keeps its energy': {
    right: 'perform fit_budget(wallet) from',
    wrong: 'perform wallet from',
  },
  'a budget that is used up without a word': {
    right: 'perform note_budget(debit.wallet)',
    wrong: 'perform 1',
  },
  'a charge without its budget that is not counted': {
    right: 'count_unlimited(me.id, me.last_seq,',
    wrong: 'count_unlimited(me.id, 1000000,',
  },
  'an excess that nobody bears': {
    right: 'continue when debit.unit is null',
    wrong: 'continue when true',
  },
}

/** The functions of tick.sql with the fault in them, which must be where it is looked for. */
function spoiled({ right, wrong }: Plant): string {
  const text = readFileSync(new URL('./tick.sql', import.meta.url), 'utf8')
  assert.equal(text.split(right).length, 2, `tick.sql has it once: ${right}`)
  return text.replace(right, wrong)
}

for (const [name, plant] of Object.entries(PLANTS))
  test(`histories of ticks find a planted fault: ${name}`, { skip }, async () => {
    await assert.rejects(histories(plant), (error: Error) => {
      // A difference from the model, and not a statement that fails by itself.
      assert.ok(error.cause instanceof assert.AssertionError, error.message)
      return true
    })
  })
