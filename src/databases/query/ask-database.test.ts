// A query whose server ends in the middle of the answer: a bare server on a socket.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { AUTHENTICATED, message, READY } from '#wire/messages.ts'
import { askDatabase } from './ask-database.ts'

const COMMAND_COMPLETE = 0x43
const DATA_ROW = 0x44
const QUERY = 0x51

test('a session that ends before the whole answer is a database that is not ready', async (t) => {
  const socketFolder = mkdtempSync(join(tmpdir(), 'ergon-query-'))
  t.after(() => rmSync(socketFolder, { recursive: true, force: true }))
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(Buffer.concat([AUTHENTICATED, READY]))
      socket.on('data', (bytes: Buffer) => {
        if (bytes[0] === QUERY)
          socket.write(Buffer.concat([message(COMMAND_COMPLETE, 'BEGIN'), READY]))
        else socket.end(message(DATA_ROW, Buffer.alloc(1000)).subarray(0, 500))
      })
    })
  })
  await once(server.listen(join(socketFolder, '.s.PGSQL.5432')), 'listening')
  t.after(() => server.close())
  const login = { socketFolder, user: 'u', password: 'p', database: 'notes' }
  const asked = { sql: 'select 1', rowsMax: 10 }
  const signal = AbortSignal.timeout(10_000)
  await assert.rejects(askDatabase(login, asked, { signal, mark: () => undefined }), {
    code: 'database_not_ready',
    message: 'Could not run the query: notes ended the session before its answer',
  })
})
