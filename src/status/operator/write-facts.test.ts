import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import type { NodeFacts } from '#contract/operator/operator.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { quiet } from '#postgres/testing.ts'
import { readNodeFacts } from './read-facts.ts'
import { LOOK_CHANNEL, writeAtLooks } from './write-facts.ts'

const METER = 'facts-test'
const LOOKS = 200

test(
  'facts are written when somebody looks, once a second at most, and a failure ends nothing',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const deps = { state, meter: METER, clock: systemClock }
    const read = () => readNodeFacts(deps, AbortSignal.timeout(10_000))
    let made = 0
    const facts = () => {
      made += 1
      if (made === 1) throw new TypeError('planted')
      return { version: String(made) } as NodeFacts
    }
    await using _ = await writeAtLooks({ state, facts: { [METER]: facts }, log: quiet })

    await state.query('select pg_notify($1, $2)', [LOOK_CHANNEL, 'another-meter'])
    assert.equal(await read(), null, 'the first look fails, and nobody asks again')
    assert.equal(made, 1)
    await state.query(`select pg_notify($1, $2 || ' ' || n) from generate_series(1, 5) n`, [
      LOOK_CHANNEL,
      METER,
    ])
    // Equal notifications of one transaction are one, so these are statements.
    const beganMs = performance.now()
    for (let nth = 0; nth < LOOKS; nth++)
      await state.query('select pg_notify($1, $2)', [LOOK_CHANNEL, METER])
    assert.ok(Number((await read())?.version) >= 2)
    const seconds = Math.ceil((performance.now() - beganMs) / 1000)
    assert.ok(made <= 3 + seconds, `${made} writes of ${LOOKS} looks`)
  },
)
