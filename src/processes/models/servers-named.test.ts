import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'

const MIGRATION = new URL('../../state/migrations/0031_servers-named.sql', import.meta.url)

test(
  'the host of a server that was added before is told no more',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const [host, server] = ['gpu-7.internal', { base_url: 'http://gpu-7.internal/v1' }]
    const rows = [
      ['old', { ownedBy: host, routedTo: `${host}/remote/upstream`, tier: 'L1' }, server],
      ['new', { ownedBy: 'lambda', routedTo: 'lambda/us/h100' }, server],
      ['own', { ownedBy: 'operator', routedTo: 'acme/local/cpu-x64' }, { socket: '/s' }],
    ] as const
    for (const row of rows)
      await state.query(
        `insert into models (id, offer, provider, state, is_default) values ($1, $2, $3, 'ready', false)`,
        [...row],
      )
    await state.query(readFileSync(MIGRATION, 'utf8'))
    const { rows: found } = await state.query('select id, offer from models order by position, id')
    assert.deepEqual(found, [
      { id: 'new', offer: rows[1][1] },
      {
        id: 'old',
        offer: { ownedBy: 'operator', routedTo: 'unknown/unknown/unknown', tier: 'L1' },
      },
      { id: 'own', offer: rows[2][1] },
    ])
  },
)
