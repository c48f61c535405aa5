import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '#contract/errors.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { NotYet, reconcile, type ReconcilerDeps } from './reconciler.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'

const OTHER = 'acct_b'

async function withState(work: (state: State) => Promise<void>): Promise<void> {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 3)
  for (const id of [ACCOUNT, OTHER]) await addTestAccount(state, { id, env: 'test', lowWater: 0n })
  await work(state)
}

const add = async (state: State, name: string, most = 9, account = ACCOUNT) =>
  (
    await state.query<{ id: string | null }>(
      "select add_resource('database', $1, $2, 'local', $3) as id",
      [account, name, most],
    )
  ).rows[0]?.id
const rowOf = async (state: State, id: unknown) =>
  (
    await state.query<{ actual: string; reason: string | null }>(
      'select actual, reason from resources where id = $1',
      [id],
    )
  ).rows[0]

test('a name is taken while its resource is there, and resources are counted', { skip }, () =>
  withState(async (state) => {
    const id = await add(state, 'one')
    assert.match(id ?? '', /^db_/)
    assert.equal(await add(state, 'one'), null)
    await assert.rejects(add(state, 'two', 1), { code: 'EG020' })
    await state.query("select want_resource($1, 'deleted')", [id])
    assert.match((await add(state, 'one', 1)) ?? '', /^db_/)
  }),
)

test('the machine refuses moves that it does not have', { skip }, () =>
  withState(async (state) => {
    const id = await add(state, 'one')
    const move = (to: string) => state.query('select move_resource($1, $2)', [id, to])
    const refused = { code: 'EG025' }
    for (const to of ['deployed', 'crash_loop']) await assert.rejects(move(to), refused, to)
    for (const to of [
      'deploying',
      'failed',
      'deploying',
      'deployed',
      'crash_loop',
      'deployed',
      'suspended',
      'deployed',
      'deleted',
    ]) {
      await move(to)
      assert.equal((await rowOf(state, id))?.actual, to)
    }
    await assert.rejects(move('deploying'), refused)
  }),
)

/** Runs a reconciler during the work, which can wait for the row of a resource. */
async function reconciling(
  state: State,
  deps: Partial<ReconcilerDeps>,
  work: (
    reaches: (id: unknown, row: { actual?: string; reason?: RegExp }) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const ending = new AbortController()
  const nothing = async () => undefined
  const log = { ...quiet, error: () => undefined }
  const own = { state, log, kind: 'database', deploy: nothing, suspend: nothing, remove: nothing }
  const running = reconcile({ ...own, ...deps }, ending.signal)
  const reaches: Parameters<typeof work>[0] = async (id, { actual, reason }) => {
    const lastMs = performance.now() + 20_000
    for (;;) {
      const row = await rowOf(state, id)
      const isReached = actual === undefined || row?.actual === actual
      if (isReached && (reason === undefined || reason.test(String(row?.reason)))) return
      assert.ok(performance.now() < lastMs, `${actual} ${reason}: ${JSON.stringify(row)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  try {
    await work(reaches)
  } finally {
    ending.abort()
    await running
  }
}

test(
  'resources are made and removed as they are wanted; a failure keeps its details in the log',
  { skip },
  () =>
    withState(async (state) => {
      const removed: string[] = []
      const suspended: string[] = []
      const deps: Partial<ReconcilerDeps> = {
        deploy: async ({ name }) => {
          if (name === 'bad') throw new TypeError('no room in /srv/secret/path')
        },
        suspend: async ({ id }) => void suspended.push(id),
        remove: async ({ id }) => void removed.push(id),
      }
      await reconciling(state, deps, async (reaches) => {
        const [good, bad] = [await add(state, 'good'), await add(state, 'bad')]
        await reaches(good, { actual: 'deployed' })
        await reaches(bad, { actual: 'failed' })
        assert.doesNotMatch((await rowOf(state, bad))?.reason ?? '', /secret/)
        for (const wanted of ['suspended', 'deployed', 'deleted']) {
          await state.query('select want_resource($1, $2)', [good, wanted])
          await reaches(good, { actual: wanted })
        }
        assert.deepEqual([suspended, removed], [[good], [good]])
      })
    }),
)

test('the reason of a failed try is not that of a wish that came meanwhile', { skip }, () =>
  withState(async (state) => {
    const seen: unknown[] = []
    const deps: Partial<ReconcilerDeps> = {
      async deploy({ id }) {
        seen.push((await rowOf(state, id))?.reason)
        if (seen.length > 1) return
        await state.query("select want_resource($1, 'deployed')", [id])
        throw fault('workload_failed', 'the first has no room')
      },
    }
    await reconciling(state, deps, async (reaches) => {
      await reaches(await add(state, 'one'), { actual: 'deployed' })
      assert.deepEqual(seen, [null, null])
    })
  }),
)

test('a deployment ends when its account wants the resource no more', { skip }, () =>
  withState(async (state) => {
    const ended: string[] = []
    const deps: Partial<ReconcilerDeps> = {
      deploy: async ({ name }, signal) => {
        // As the pull of a large image.
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        ended.push(name)
        signal.throwIfAborted()
      },
    }
    await reconciling(state, deps, async (reaches) => {
      for (const wanted of ['deleted', 'suspended']) {
        const id = await add(state, wanted)
        await reaches(id, { actual: 'deploying' })
        await state.query("select want_resource($1, 'deployed')", [id])
        await state.query('select want_resource($1, $2)', [id, wanted])
        await reaches(id, { actual: wanted })
      }
    })
    assert.deepEqual(ended, ['deleted', 'suspended'])
  }),
)

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

test('what cannot be made as it is wanted fails once, until it is wanted again', { skip }, () =>
  withState(async (state) => {
    let tries = 0
    const deploy = async ({ name }: { readonly name: string }) => {
      if (name !== 'bad') return undefined
      tries++
      return 'failed' as const
    }
    await reconciling(state, { deploy }, async (reaches) => {
      const id = await add(state, 'bad')
      await reaches(id, { actual: 'failed' })
      await reaches(await add(state, 'good'), { actual: 'deployed' })
      assert.equal(tries, 1)
      await state.query("select want_resource($1, 'deployed')", [id])
      await reaches(await add(state, 'better'), { actual: 'deployed' })
      assert.equal(tries, 2)
    })
  }),
)

test('what waits for another try has the reason of the last one', { skip }, () =>
  withState(async (state) => {
    let tries = 0
    const deploy = async () => {
      if (tries++ === 0) throw fault('database_not_ready', 'Could not reach it')
      throw new NotYet()
    }
    await reconciling(state, { deploy, againMs: 50 }, async (reaches) => {
      const id = await add(state, 'one')
      await reaches(id, { actual: 'deploying', reason: /^Could not reach it$/ })
      assert.ok(tries > 1)
    })
  }),
)

test('a change that fails leaves what is deployed, and says why until it is made', { skip }, () =>
  withState(async (state) => {
    let why: string | undefined
    const deploy = async () => {
      if (why !== undefined) throw fault('database_not_ready', why)
    }
    await reconciling(state, { deploy }, async (reaches) => {
      const id = await add(state, 'one')
      await reaches(id, { actual: 'deployed' })
      why = 'Could not change the roles'
      await state.query("select want_resource($1, 'deployed')", [id])
      await reaches(id, { actual: 'deployed', reason: /^Could not change the roles$/ })
      why = undefined
      await state.query("select want_resource($1, 'deployed')", [id])
      await reaches(id, { actual: 'deployed', reason: /^null$/ })
    })
  }),
)

test(
  'what is suspended before it was made settles, and holds up nothing that comes later',
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

test('what ends again and again is in a crash loop, which nothing tries to settle', { skip }, () =>
  withState(async (state) => {
    let made = 0
    const deploy = async () => {
      made++
      return 'crash_loop' as const
    }
    const id = await add(state, 'one')
    for (const to of ['deploying', 'deployed'])
      await state.query('select move_resource($1, $2)', [id, to])
    await reconciling(state, { deploy }, async (reaches) => {
      await reaches(id, { actual: 'crash_loop' })
      await state.query("select want_resource($1, 'deployed')", [id])
      await reaches(await add(state, 'other', 9, OTHER), { actual: 'failed' })
      assert.equal(made, 3)
      await state.query("select want_resource($1, 'suspended')", [id])
      await reaches(id, { actual: 'suspended' })
    })
  }),
)

test('a move that the machine refuses is tried again later, and not at once', { skip }, () =>
  withState(async (state) => {
    const id = await add(state, 'one')
    let made = 0
    // The row is gone where the work ends, so no move reaches it.
    const deploy = async () => {
      made++
      await state.query("update resources set actual = 'deleted' where id = $1", [id])
    }
    await reconciling(state, { deploy }, () => new Promise((resolve) => setTimeout(resolve, 500)))
    assert.ok(made <= 1, `${made} times`)
  }),
)

test(
  'a failure that the service cannot mend is tried again later each time, others are not',
  { skip },
  () =>
    withState(async (state) => {
      const tries = { theirs: 0, ours: 0 }
      const deploy = async ({ account }: { readonly account: string }) => {
        if (account === ACCOUNT) tries.theirs++
        else tries.ours++
        throw account === ACCOUNT
          ? fault('registry_unreachable', 'The registry does not answer')
          : new TypeError('no room')
      }
      await reconciling(state, { deploy, againMs: 40 }, async (reaches) => {
        const theirs = await add(state, 'theirs')
        await add(state, 'ours', 9, OTHER)
        while (tries.ours < 12) await new Promise((resolve) => setTimeout(resolve, 20))
        // After 0, 40, 120, 280 and 600 ms, while the other one had 12 tries in 440 ms or more.
        assert.ok(tries.theirs >= 2 && tries.theirs < tries.ours - 2, JSON.stringify(tries))
        // Another wish is tried at once.
        const before = tries.theirs
        await state.query("select want_resource($1, 'deployed')", [theirs])
        while (tries.theirs === before) await new Promise((resolve) => setTimeout(resolve, 20))
        await reaches(theirs, { actual: 'failed', reason: /^The registry does not answer$/ })
      })
    }),
)
