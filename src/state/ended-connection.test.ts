import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { quiet } from '#postgres/testing.ts'
import { connectState } from './connect.ts'

/** As a server writes that stops while a login ends: AuthenticationOk, ReadyForQuery and the end, in one piece. */
const READY_AND_GONE = Buffer.from(
  'R\0\0\0\x08\0\0\0\0Z\0\0\0\x05IE\0\0\0\x1cSFATAL\0C57P01\0Mstopped\0\0',
  'latin1',
)

test('a server that ends a connection with its greeting is away, and the process goes on', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(READY_AND_GONE))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const url = `postgresql://user:word@127.0.0.1:${port}/state`
  await using state = connectState({ address: { url }, connections: 1, log: quiet })
  await assert.rejects(state.query('select 1'), { code: 'state_unavailable' })
  await assert.rejects(
    state.transaction((transaction) => transaction.query('select 1')),
    { code: 'state_unavailable' },
  )
})
