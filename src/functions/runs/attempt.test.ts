// An attempt at a function that is a bare server on a socket.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { sleep } from '#base/clock.ts'
import { floodInterim } from '#base/interim-flood.fixture.ts'
import type { ServerResponse } from 'node:http'
import type { SleepCause } from '#contract/resources/intervals.ts'
import { createServer } from '#base/node-http.ts'
import { attempt, type DueRun } from './attempt.ts'

const RUN: DueRun = {
  id: '1',
  function: 'fn_a',
  account: 'acct_a',
  name: 'a',
  event: 'schedule',
  data: {},
  attempts: 0,
  route: '/waits',
  timeout_s: 1,
  deployed_by: null,
}

async function answerAfterTurn(url: string, response: ServerResponse): Promise<void> {
  if (url === '/waits') {
    response.writeProcessing()
    await sleep(700)
    response.writeProcessing()
  }
  await sleep(url === '/late' ? 2000 : 700)
  response.end()
}

function socketOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-attempt-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'socket')
}

/** A function whose server answers so; `endedBy` is why its instance is being ended. */
async function functionOn(
  t: TestContext,
  answer: (url: string, response: ServerResponse) => Promise<void>,
  endedBy?: SleepCause,
) {
  const socket = socketOf(t)
  const server = createServer((request, response) => {
    void answer(request.url ?? '', response)
  })
  await once(server.listen(socket), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return functionAt(socket, endedBy)
}

function functionAt(socket: string, endedBy?: SleepCause) {
  const seen = { unblocked: 0 }
  const instance = {
    address: `unix:${socket}`,
    cell: 'fn-a-1',
    isOpen: false,
    concurrency: 1,
    ready: async () => {},
    end: async () => {},
    unblock: async () => void seen.unblocked++,
  }
  const deps = {
    functions: { use: async () => ({ instance, endedBy: () => endedBy, release() {} }) },
    urlOf: () => 'http://localhost/waits',
    payloadOf: async () => ({}),
  }
  return {
    seen,
    outcomeOf: async (route: string) =>
      await attempt({ ...RUN, route }, deps, AbortSignal.timeout(10_000)),
  }
}

test('the time of a run begins with its handler, not with its wait for a turn', async (t) => {
  const { outcomeOf, seen } = await functionOn(t, answerAfterTurn)
  const [waited, late] = await Promise.all([outcomeOf('/waits'), outcomeOf('/late')])
  assert.equal(waited.outcome, 'done')
  assert.deepEqual([late.outcome, late.error], ['failed', 'it has not ended after 1 s'])
  assert.equal(seen.unblocked, 1)
})

test('a run that its budget or its account cuts off waits; one that its code ends has failed', async (t) => {
  const cutOff = async (_: string, response: ServerResponse) => void response.destroy()
  const outcomes = await Promise.all(
    (['budget', 'balance', 'suspended', 'failed', undefined] as const).map(async (cause) => {
      const { outcomeOf } = await functionOn(t, cutOff, cause)
      const { outcome, error = '' } = await outcomeOf('/')
      return [cause, outcome, error.split(':')[0]]
    }),
  )
  const unpaid = 'its energy cannot be paid, or its budget is used up'
  assert.deepEqual(outcomes, [
    ['budget', 'waits', unpaid],
    ['balance', 'waits', unpaid],
    ['suspended', 'waits', 'it may not run now'],
    ['failed', 'failed', 'its process has ended'],
    [undefined, 'failed', 'its process has ended'],
  ])
})

test('a run that has ended is done, whatever ends its instance', async (t) => {
  const { outcomeOf } = await functionOn(t, async (_, response) => void response.end(), 'budget')
  assert.equal((await outcomeOf('/')).outcome, 'done')
})

test('a function that sends interim answers without end has failed before its time is over', async (t) => {
  const socket = socketOf(t)
  await floodInterim(t, socket)
  const { outcomeOf } = functionAt(socket)
  const { outcome, error } = await outcomeOf('/')
  assert.deepEqual(
    [outcome, error],
    ['failed', 'its process has ended: it sent more than 16 interim answers (1xx)'],
  )
})
