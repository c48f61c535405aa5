// A stream that stops without an end: it is asked for again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

const opened: EventTarget[] = []
const globals = {
  BroadcastChannel: class extends EventTarget {
    postMessage(): void {}
  },
  EventSource: class extends EventTarget {
    constructor() {
      super()
      opened.push(this)
    }
    close(): void {
      opened.splice(opened.indexOf(this), 1)
    }
  },
  document: Object.assign(new EventTarget(), { visibilityState: 'visible' }),
  navigator: {
    locks: { request: (_name: string, _options: object, act: () => Promise<void>) => act() },
  },
}
for (const [name, value] of Object.entries(globals))
  Object.defineProperty(globalThis, name, { value, configurable: true })

const { createLiveStore } = await import('./stream.ts')

const MESSAGE = {
  at: '2026-11-27T10:00:00.000Z',
  watts: {},
  method: 'rapl',
  band_pct: 5,
  looking_nj: '0',
  today: {
    day: '2026-11-27',
    requests: 0,
    energy_nj: '0',
    measured_nj: '0',
    band_pct: 0,
    carbon_pg: '0',
    charge_pusd: '0',
  },
}

test('a stream that tells nothing any more is closed and asked for again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const store = createLiveStore(async () => true)
  const end = store.subscribe(() => undefined)
  await turn()
  const [first] = opened
  const data = JSON.stringify(MESSAGE)
  first?.dispatchEvent(Object.assign(new Event('message'), { data, lastEventId: '1' }))
  assert.equal(store.get().status, 'live')
  t.mock.timers.tick(12_400)
  await turn()
  assert.deepEqual(opened, [first])
  t.mock.timers.tick(200)
  await turn()
  assert.deepEqual([opened.length, store.get().status], [0, 'offline'])
  t.mock.timers.tick(2_000)
  await turn()
  assert.equal(opened.length, 1)
  assert.notEqual(opened[0], first)
  end()
})
