import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Cell } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import { createRefusals, REFUSALS_PAGE } from '#http/refusals.ts'
import { serveInside } from '#node/inside.ts'
import { quiet } from '#postgres/testing.ts'
import { requestHandlers } from './requests.ts'

const ID = `req_${'1'.repeat(26)}`

test('a refusal is found while another gateway is silent and the ledger away', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-refusals-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const refusals = createRefusals({ wallMs: () => 0 })
  refusals.add(ID, fault('state_unavailable', 'Could not ask the ledger'))
  const socket = join(folder, 'gw-2.sock')
  const gateway = await serveInside(socket, { [REFUSALS_PAGE]: refusals.list })
  t.after(() => gateway.close())
  const cells = [
    { spec: { name: 'gw-1' }, socket: join(folder, 'absent.sock') },
    { spec: { name: 'gw-2' }, socket },
  ] as unknown as Cell[]
  const away = () => Promise.reject(fault('state_unavailable', 'The state is away'))
  const find = (id: string, query: () => Promise<never>) =>
    requestHandlers({ state: { query }, cells: { list: () => cells }, log: quiet })['request.find'](
      { id },
    )

  const found = await find(ID, away)
  assert.deepEqual(
    [found.refusal?.gateway, found.refusal?.code, found.charge, found.ledger_fault],
    ['gw-2', 'state_unavailable', null, 'The state is away'],
  )
  const none = () => Promise.resolve({ rows: [], rowCount: 0 } as never)
  await assert.rejects(find(`rcpt_${'2'.repeat(26)}`, none), { code: 'not_found' })
})
