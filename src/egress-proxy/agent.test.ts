// The proxy as the agent starts it: the real program in a real cell.
import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLogTail } from '#base/log-tail.ts'
import { createCells } from '#cells/create-cells.ts'
import { place } from '#cells/testing/harness.ts'
import { readSettings } from '#config/config.ts'
import { COMPILED_FOLDER } from '#node/bundles.ts'
import { PROXY_PORT } from '#node/egress.ts'
import { createEgress } from './agent.ts'

const TRIES_MAX = 600

test('a proxy that was late once serves the next that asks', async (t) => {
  const where = place()
  mkdirSync(join(where.dataFolder, COMPILED_FOLDER), { recursive: true })
  const cells = await createCells(where)
  t.after(async () => {
    await cells.close()
    rmSync(where.root, { recursive: true })
  })
  const { runFolder, dataFolder } = where
  const egress = createEgress(
    {
      cells,
      config: readSettings({}, []),
      place: { runFolder, dataFolder, logLevel: 'error', logTail: createLogTail() },
    },
    [],
    100,
  )
  const ask = () => egress.outletOf({ name: 'fn-a-1', account: 'acct_a' })
  await assert.rejects(ask, { name: 'TimeoutError' })
  let outlet
  for (let nth = 0; outlet === undefined && nth < TRIES_MAX; nth++)
    outlet = await ask().catch((error: unknown) => {
      assert.equal((error as Error).name, 'TimeoutError', String(error))
      return undefined
    })
  assert.deepEqual(
    outlet?.ports.map(({ port }) => port),
    [PROXY_PORT],
  )
  const socket = connect(outlet?.socket ?? '')
  await once(socket, 'connect')
  socket.destroy()
})
