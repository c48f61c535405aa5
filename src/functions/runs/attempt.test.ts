// An attempt at a function that is a bare server on a socket.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import type { ServerResponse } from 'node:http'
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

test('the time of a run begins with its handler, not with its wait for a turn', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-attempt-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const socket = join(folder, 'socket')
  const server = createServer((request, response) => {
    void answerAfterTurn(request.url ?? '', response)
  })
  await once(server.listen(socket), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  let unblocked = 0
  const instance = {
    address: `unix:${socket}`,
    concurrency: 1,
    ready: async () => {},
    end: async () => {},
    unblock: async () => void unblocked++,
  }
  const deps = {
    functions: { use: async () => ({ instance, release() {} }) },
    urlOf: () => 'http://localhost/waits',
    payloadOf: async () => ({}),
  }
  const outcomeOf = async (route: string) =>
    await attempt({ ...RUN, route }, deps, AbortSignal.timeout(10_000))
  const [waited, late] = await Promise.all([outcomeOf('/waits'), outcomeOf('/late')])
  assert.equal(waited.outcome, 'done')
  assert.deepEqual([late.outcome, late.error], ['failed', 'it has not ended after 1 s'])
  assert.equal(unblocked, 1)
})
