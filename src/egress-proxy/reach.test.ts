// Where code of accounts gets to on the machine of the service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotPermitted } from '#egress/checked-socket.ts'
import { createReach } from './reach.ts'

const MACHINE = '8.8.8.8'
const account = 'acct_1'
const isRefused = (error: unknown) =>
  error instanceof NotPermitted && error.message.includes(MACHINE)

test('code of accounts does not reach the public address of the machine but at ports of the service', async () => {
  const reach = createReach({
    own: [{ names: ['api.example.com'], port: 443 }],
    networks: [],
    resolve: async () => [MACHINE],
    machine: () => [MACHINE],
  })
  // An ended request opens no connection: no packet leaves where the address is permitted.
  const signal = AbortSignal.abort()
  for (const hostname of [MACHINE, 'a.example.net'])
    await assert.rejects(reach({ hostname, port: 9090 }, { account, signal }), isRefused, hostname)
  for (const hostname of ['api.example.com', 'domain-of-an-account.example.net'])
    await assert.rejects(
      reach({ hostname, port: 443 }, { account, signal }),
      (error) => !isRefused(error),
      hostname,
    )
})
