// Changes of the number of instances are events, each told once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Queryable } from '#state/connect.ts'
import { createScaledTeller } from './tell-scaled.ts'
import { workloadsOn } from './workloads.fixture.ts'

test(
  'a number of instances is told once, also by another life of the agent',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const { workloads, deployed } = await workloadsOn(state, { running: [] })
    workloads.close()
    const id = await deployed('one')
    const told = async () =>
      (
        await state.query<{ count: string }>(
          "select data ->> 'instances' as count from events where type = 'workload.scaled' order by sequence",
        )
      ).rows.map(({ count }) => Number(count))
    let [count, asked] = [0, 0]
    const counting: Queryable = {
      query: (text, values) => state.query(text, values).finally(() => asked++) as never,
    }
    const lifeSees = async (...counts: readonly number[]) => {
      const teller = createScaledTeller({
        state: counting,
        log: quiet,
        countOf: () => count,
        settledMs: 1,
      })
      for (count of counts) {
        const before = asked
        teller.changed(id)
        while (asked === before) await pause(10)
      }
      teller.close()
      return await told()
    }
    assert.deepEqual(await lifeSees(1, 0, 1), [])
    assert.deepEqual(await lifeSees(3), [3])
    assert.deepEqual(await lifeSees(1, 3), [3, 1, 3])
    assert.deepEqual(await lifeSees(3, 0), [3, 1, 3, 0])
  },
)
