// Accounts and resources beside each other: work that takes long holds up nothing that others want.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { ACCOUNT, OTHER, add, reconciling, withState } from './reconciler.fixture.ts'
import { type ReconcilerDeps } from './reconciler.ts'

const skip = whyNoState()

test('a query that fails while a deployment goes on holds up nobody', { skip }, () =>
  withState(async (state) => {
    const goOn = Promise.withResolvers<void>()
    let fails = 0
    const unsteady: State = {
      ...state,
      query: async (text, values) => {
        if (fails > 0 && fails-- > 0) throw new Error('the state did not answer')
        return await state.query(text, values)
      },
    }
    const deps: Partial<ReconcilerDeps> = {
      state: unsteady,
      deploy: async ({ name }, signal, aside) => {
        if (name !== 'slow') return
        signal.addEventListener('abort', () => goOn.resolve())
        aside()
        await goOn.promise
      },
    }
    await reconciling(state, deps, async (reaches) => {
      const slow = await add(state, 'slow', 9, 'acct_a')
      await state.query("select want_resource($1, 'deployed')", [slow])
      await reaches(slow, { actual: 'deploying' })
      fails = 1
      const quick = await add(state, 'quick', 9, 'acct_b')
      await state.query("select want_resource($1, 'deployed')", [quick])
      await state.query("select want_resource($1, 'deployed')", [quick])
      await reaches(quick, { actual: 'deployed' })
      goOn.resolve()
      await reaches(slow, { actual: 'deployed' })
    })
  }),
)

test('work on a resource of one account does not hold up another account', { skip }, () =>
  withState(async (state) => {
    const goOn = Promise.withResolvers<void>()
    const begun: string[] = []
    const deploy: ReconcilerDeps['deploy'] = async ({ name, account }) => {
      begun.push(name)
      if (account === ACCOUNT) await goOn.promise
    }
    await reconciling(state, { deploy }, async (reaches) => {
      const [slow, next] = [await add(state, 'slow'), await add(state, 'next')]
      await reaches(slow, { actual: 'deploying' })
      await reaches(await add(state, 'theirs', 9, OTHER), { actual: 'deployed' })
      // A new wish for a resource in work, and another resource of its account, wait for the end of that work.
      await state.query("select want_resource($1, 'deployed')", [slow])
      await reaches(await add(state, 'last', 9, OTHER), { actual: 'deployed' })
      assert.deepEqual(begun, ['slow', 'theirs', 'last'])
      goOn.resolve()
      await reaches(next, { actual: 'deployed' })
      await reaches(slow, { actual: 'deployed' })
    })
  }),
)

test(
  'work with a limit of its own holds up no other account, however many have such work',
  { skip },
  () =>
    withState(async (state) => {
      const goOn = Promise.withResolvers<void>()
      const slow = ['acct_1', 'acct_2', 'acct_3', 'acct_4', 'acct_5']
      for (const id of slow) await addTestAccount(state, { id, env: 'test', lowWater: 0n })
      const deploy: ReconcilerDeps['deploy'] = async ({ account }, _, aside) => {
        if (account === ACCOUNT) return
        aside()
        await goOn.promise
      }
      await reconciling(state, { deploy }, async (reaches) => {
        const ids = []
        for (const account of slow) ids.push(await add(state, 'slow', 9, account))
        for (const id of ids) await reaches(id, { actual: 'deploying' })
        await reaches(await add(state, 'quick'), { actual: 'deployed' })
        goOn.resolve()
        for (const id of ids) await reaches(id, { actual: 'deployed' })
      })
    }),
)

test('work with a limit of its own holds up no other resource of its account', { skip }, () =>
  withState(async (state) => {
    const goOn = Promise.withResolvers<void>()
    const begun: string[] = []
    const deploy: ReconcilerDeps['deploy'] = async ({ name }, ending, aside) => {
      begun.push(name)
      if (!name.startsWith('slow')) return
      ending.addEventListener('abort', () => goOn.resolve())
      aside()
      await goOn.promise
    }
    await reconciling(state, { deploy }, async (reaches) => {
      const slow = [await add(state, 'slow-1'), await add(state, 'slow-2')]
      for (const id of slow) await reaches(id, { actual: 'deploying' })
      const next = await add(state, 'next')
      await reaches(next, { actual: 'deployed' })
      await state.query("select want_resource($1, 'suspended')", [next])
      await reaches(next, { actual: 'suspended' })
      // A new wish for a resource in work waits for the end of that work.
      await state.query("select want_resource($1, 'deployed')", [slow[0]])
      await reaches(await add(state, 'last'), { actual: 'deployed' })
      assert.deepEqual(begun.toSorted(), ['last', 'next', 'slow-1', 'slow-2'])
      goOn.resolve()
      for (const id of slow) await reaches(id, { actual: 'deployed' })
    })
  }),
)

test(
  'a resource that is suspended before it was made settles, and holds up nothing that comes later',
  { skip },
  () =>
    withState(async (state) => {
      const early = await add(state, 'early')
      await state.query("select want_resource($1, 'suspended')", [early])
      const later = await add(state, 'later')
      let suspensions = 0
      const suspend = async () => void suspensions++
      await reconciling(state, { suspend }, async (reaches) => {
        await reaches(early, { actual: 'suspended' })
        await reaches(later, { actual: 'deployed' })
        await state.query("select want_resource($1, 'deployed')", [early])
        await reaches(early, { actual: 'deployed' })
      })
      assert.equal(suspensions, 1)
    }),
)
