import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createUsedDatabases } from './used-databases.ts'

test('a database that is cut twice in one turn ends its answers once, without an error', async (t) => {
  const databases = createUsedDatabases(1)
  const arrived = Promise.withResolvers<ServerResponse>()
  const server = createServer((_, response) => arrived.resolve(response)).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }, (answer) =>
    answer.resume(),
  )
  const response = await arrived.promise
  const errors: unknown[] = []
  response.on('error', (error) => errors.push(error))
  databases.hold('db_1', response)
  const fatal = { code: '57P01', message: 'ended' }
  databases.cut('db_1', fatal)
  databases.cut('db_1', fatal)
  databases.cut('db_1', fatal, [1])
  await once(response, 'close')
  assert.deepEqual(errors, [])
})
