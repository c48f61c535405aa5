import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Queryable } from '#state/connect.ts'
import { countedState, type TurnState } from './counted-state.ts'

/** A process whose CPU the test sets, and a state that takes 100 of it for each query. */
function processOf() {
  const process = { cpuNs: 0, markedNs: 0 }
  const payers = { account: 0, operator: 0 }
  const markOf = (payer: keyof typeof payers) => () => {
    payers[payer] += process.cpuNs - process.markedNs
    process.markedNs = process.cpuNs
  }
  const query: Queryable['query'] = async (text) => {
    process.cpuNs += 100
    await Promise.resolve()
    if (text === 'fails') throw new TypeError(text)
    return { rows: [], rowCount: 0 }
  }
  const state: TurnState = {
    query,
    async transaction(work) {
      process.cpuNs += 10
      const result = await work({ query })
      process.cpuNs += 10
      return result
    },
  }
  const marks = { mark: markOf('account'), markOwn: markOf('operator') }
  const use = (ns: number) => void (process.cpuNs += ns)
  return { state: countedState(state, marks), marks, payers, use }
}

test('a turn has its CPU between answers and questions, and none of the state or of others', async () => {
  const { state, marks, payers, use } = processOf()
  use(1000)
  marks.markOwn()
  use(3)
  await state.query('select')
  use(4)
  await state.transaction(async (it) => {
    use(5)
    const asked = it.query('select')
    // CPU of another turn, while this one waits.
    use(2000)
    await asked
    use(6)
  })
  use(7)
  await state.query('fails').catch(() => undefined)
  use(8)
  marks.mark()
  use(9)
  marks.markOwn()
  assert.deepEqual(payers, { account: 3 + 4 + 5 + 6 + 7 + 8, operator: 1000 + 320 + 2000 + 9 })
})
