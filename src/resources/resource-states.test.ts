// Rows of resources: their names, their count, and the moves of their state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import { add, rowOf, withState } from './reconciler.fixture.ts'

const skip = whyNoState()

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
