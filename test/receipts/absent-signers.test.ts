// The log while the key is awaited, with signers that never answer. The timers are mocked, so the file has a process
// of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createLogger } from '#base/log.ts'
import { establishKey } from '#signers/ceremony.ts'
import type { Member } from '#signers/member.ts'
import { SIGNERS } from '#signers/wire.ts'

test('establishKey() warns once of signers that stay away for ten seconds', async (t) => {
  const lines: string[] = []
  const log = createLogger('test', { write: (line) => void lines.push(line) })
  const stopping = new AbortController()
  const away = Array.from({ length: SIGNERS }, (_, nth) => ({
    index: nth + 1,
    status: () => Promise.reject(new Error('nobody is there')),
  })) as unknown as Member[]
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const waiting = establishKey(away, { log }, stopping.signal)
  const after = async (seconds: number) => {
    for (let half = 0; half < seconds * 2; half++) {
      await turn()
      t.mock.timers.tick(500)
    }
    await turn()
    return lines.map((line) => (JSON.parse(line) as { level: string }).level)
  }
  assert.deepEqual(await after(9), ['info'])
  assert.deepEqual(await after(2), ['info', 'warn'])
  assert.deepEqual(await after(60), ['info', 'warn'])
  stopping.abort(new Error('enough'))
  await assert.rejects(waiting, { message: 'enough' })
})
