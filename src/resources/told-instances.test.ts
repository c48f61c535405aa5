// The line about an instance that is not ready yet: a request waits for it, so it leaves before other work of the process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet } from '#postgres/testing.ts'
import type { Queryable } from '#state/connect.ts'
import { createInstances } from './instances.ts'

const { signal } = new AbortController()

test('a line about an instance leaves before its interval is written and before it is asked whether it is ready', async () => {
  const events: string[] = []
  const state: Queryable = {
    async query(text) {
      events.push(text.includes('begin_interval') ? 'interval' : 'other')
      return { rows: [], rowCount: 1 }
    },
  }
  const instances = createInstances({
    state,
    wishes: { query: async () => ({ rows: [], rowCount: 1 }) },
    log: quiet,
    idleMs: 60_000,
    prepare: async () => async () => ({
      ready: async () => void events.push('asked'),
      end: async () => undefined,
    }),
  })
  const resource = { id: 'fn_a', account: 'acct_a', name: 'one' }
  const used = await instances.use(resource, { cause: 'connection' }, signal, () => {
    events.push('told')
    // As a stream writes: behind the work that is on its way.
    process.nextTick(() => events.push('sent'))
  })
  used.release()
  instances.close()
  assert.deepEqual(events.slice(0, 2), ['told', 'sent'])
  assert.deepEqual(events.toSorted(), ['asked', 'interval', 'sent', 'told'])
})
