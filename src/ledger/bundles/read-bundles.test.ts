// A search of bundles by an id reads the index of their ranges of ids, whatever the age of the charge.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findBundled } from './bundled-charge.ts'

const BUNDLES = 4000
const CHARGES = 2000

const idOf = (nth: number) => `rcpt_${String(nth).padStart(26, '0')}`
const sqlId = (nth: string) => `'rcpt_' || lpad((${nth})::text, 26, '0')`

/** Bundles of ten accounts as a search sees them: without bodies. */
const fill = (state: State) =>
  state.query(
    `alter table charge_bundles disable trigger user;
     insert into charge_bundles (account, first_seq, last_seq, first_leaf, last_leaf, first_at, last_at, first_id,
       last_id, operations, tokens, resources, energy_nj, carbon_pg, charge_pusd, body)
     select 'acct_' || n % 10, n * ${CHARGES}, (n + 1) * ${CHARGES} - 1, n * ${CHARGES}, (n + 1) * ${CHARGES} - 1,
       now(), now(), ${sqlId(`n * ${CHARGES}`)}, ${sqlId(`(n + 1) * ${CHARGES} - 1`)}, '{}', '{}', '{}', 1, 1, 1, ''
     from generate_series(0, ${BUNDLES - 1}) n`,
  )

/** A state whose answers are empty; the plans of its queries. */
function explaining(state: State) {
  const plans: string[] = []
  const asked = {
    async query(text: string, values: unknown[]) {
      const { rows } = await state.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return { rows: [], rowCount: 0 }
    },
  } as unknown as Queryable
  return { asked, plans }
}

test('an id of any age is found by the ranges of ids', { skip: whyNoState() }, async () => {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 2)
  await fill(state)
  for (const isAnalyzed of [false, true]) {
    if (isAnalyzed) await state.query('analyze charge_bundles')
    const { asked, plans } = explaining(state)
    for (const nth of [0, (BUNDLES * CHARGES) / 2, BUNDLES * CHARGES - 1])
      for (const accounts of [undefined, ['acct_0']]) await findBundled(asked, idOf(nth), accounts)
    assert.equal(plans.length, 6)
    for (const plan of plans) assert.match(plan, /charge_bundles_by_ids/, plan)
  }
})
