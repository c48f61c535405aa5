import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import type { OperationCall } from '#http/reply.ts'
import type { LoginRequest } from '#contract/portal/portal.ts'
import type { State } from '#state/connect.ts'
import { networkAsker } from '#portal/waiting.ts'
import { createLoginBegin } from './login-begin.ts'

test('login.begin refuses where the service has no portal, and asks the state nothing', async () => {
  const handle = createLoginBegin({
    state: {} as State,
    pace: {
      take: () => undefined,
      addressOf: () => '127.0.0.1',
      askerOf: () => networkAsker('127.0.0.1'),
    },
    clock: systemClock,
    portalUrl: undefined,
    ownPorts: [],
  })
  await assert.rejects(async () => await handle({} as OperationCall<LoginRequest>), {
    code: 'portal_off',
  })
})
