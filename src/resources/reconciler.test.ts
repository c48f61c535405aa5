// A reconciler makes resources as accounts want them, and says why where that fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '#contract/errors.ts'
import { UNPAID_WORDS } from '#contract/resources/passing-reasons.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { ACCOUNT, OTHER, add, reconciling, rowOf, withState } from './reconciler.fixture.ts'
import { NotYet, restMs, type ReconcilerDeps } from './reconciler.ts'

const skip = whyNoState()

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

test(
  'a resource that cannot be paid before it was made has not failed, and says why it waits',
  { skip },
  () =>
    withState(async (state) => {
      const seen: unknown[] = []
      const deps: Partial<ReconcilerDeps> = {
        againMs: 1,
        async deploy({ id }) {
          const row = await rowOf(state, id)
          seen.push(`${row?.actual} ${row?.reason}`)
          if (seen.length < 3) throw fault('budget_exhausted', `${UNPAID_WORDS.budget}: ${id}`)
        },
      }
      await reconciling(state, deps, async (reaches) => {
        const id = await add(state, 'one')
        await reaches(id, { actual: 'deployed' })
        const waits = `deploying ${UNPAID_WORDS.budget}: ${id}`
        assert.deepEqual(seen, ['deploying null', waits, waits])
      })
    }),
)

test('a deployment ends when its account wants another version', { skip }, () =>
  withState(async (state) => {
    let begun = 0
    const deploy: ReconcilerDeps['deploy'] = async (_, signal) => {
      if (++begun > 1) return
      const { promise, reject } = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => reject(signal.reason))
      await promise
    }
    await reconciling(state, { deploy }, async (reaches) => {
      const id = await add(state, 'one')
      await state.query('update resources set version = 1 where id = $1', [id])
      await reaches(id, { actual: 'deploying' })
      // The same version is wanted again: its deployment goes on.
      await state.query("select want_resource($1, 'deployed')", [id])
      await state.query('update resources set version = 2 where id = $1', [id])
      assert.equal(begun, 1)
      await state.query("select want_resource($1, 'deployed')", [id])
      await reaches(id, { actual: 'deployed' })
      assert.equal(begun, 2)
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

test(
  'a resource that cannot be made as it is wanted fails once, until it is wanted again',
  { skip },
  () =>
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

test('a resource that waits for another try has the reason of the last one', { skip }, () =>
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
  'a resource that ends again and again is in a crash loop, which nothing tries to settle',
  { skip },
  () =>
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

test(
  'a reconciler that starts again goes on with the pace of tries, and tells no refusal of the account as an error',
  { skip },
  () =>
    withState(async (state) => {
      const told: string[] = []
      const tell = (level: string) => (text: string, fields?: object) =>
        void (text === 'A resource could not be changed' && told.push(`${level} ${wordOf(fields)}`))
      const wordOf = (fields: { error?: unknown } = {}) => typeof fields.error
      const log = {
        debug: tell('debug'),
        info: tell('info'),
        warn: tell('warn'),
        error: tell('error'),
      }
      const codes = ['registry_unreachable', 'budget_exhausted'] as const
      const deploy = async ({ name }: { readonly name: string }) => {
        throw fault(codes[Number(name === 'poor')] ?? 'not_found', 'It cannot be')
      }
      const failedTries = async () =>
        (
          await state.query<{ tries: number }>(
            'select sum(failed_tries)::int as tries from resources',
          )
        ).rows[0]?.tries ?? 0
      await add(state, 'far')
      await add(state, 'poor', 9, OTHER)
      for (const least of [4, 8])
        await reconciling(state, { deploy, log, againMs: 1 }, async () => {
          while ((await failedTries()) < least)
            await new Promise((resolve) => setTimeout(resolve, 5))
        })
      assert.deepEqual(
        told.filter((word) => word !== 'debug string'),
        ['info string', 'info string'],
      )
      await state.query("select want_resource(id, 'deployed') from resources")
      assert.equal(await failedTries(), 0)
    }),
)

test('restMs() of a registry that does not answer grows to about an hour, of others to 4 minutes', () => {
  const unreachable = fault('registry_unreachable', 'The name is not in the DNS')
  const rests = [0, 1, 4, 8, 99].map((tries) => restMs(15_000, tries, unreachable))
  assert.deepEqual(rests, [15_000, 30_000, 240_000, 3_840_000, 3_840_000])
  const others = [0, 4, 8].map((tries) => restMs(15_000, tries, new Error('it is busy')))
  assert.deepEqual(others, [15_000, 240_000, 240_000])
})

test(
  'a reconciler that removes alone makes deletions, and leaves other wishes as they are',
  { skip },
  () =>
    withState(async (state) => {
      const made: string[] = []
      const deploy = async ({ name }: { readonly name: string }) => void made.push(name)
      await reconciling(state, { deploy, suspend: deploy, removesAlone: true }, async (reaches) => {
        const [older, gone] = [await add(state, 'older'), await add(state, 'gone')]
        await state.query("select want_resource($1, 'deleted')", [gone])
        await reaches(gone, { actual: 'deleted' })
        assert.deepEqual([(await rowOf(state, older))?.actual, made], ['pending', []])
      })
    }),
)
