// A browser keeps nothing of a member after the member's sign-in, in any tab.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createStorage } from './storage.fixture.ts'

const Channel = BroadcastChannel
const visited: string[] = []
const globals = {
  localStorage: createStorage(),
  sessionStorage: createStorage(),
  location: {
    reload: () => void visited.push('reload'),
    assign: (path: string) => void visited.push(path),
  },
  // It would keep the test from its end.
  BroadcastChannel: class extends Channel {
    constructor(name: string) {
      super(name)
      Reflect.get(Channel.prototype, 'unref').call(this)
    }
  },
}
for (const [name, value] of Object.entries(globals))
  Object.defineProperty(globalThis, name, { value, configurable: true })

const { memberChanged, tellOtherTabs } = await import('./entered.ts')
const { begunUploads } = await import('./begun-uploads.ts')
const { beginWith, savedCodes } = await import('#console/sign-up/progress.ts')

const UPLOAD = { bucket: 'entered', key: 'k', uploadId: 'u', bytes: 1, changedMs: 1, edges: 'e' }
const keep = () => {
  beginWith(['k7q2-9m4x'])
  begunUploads.keep(UPLOAD)
}
const kept = () => [savedCodes().length, begunUploads.in('entered').length]

test('neither a sign-in nor a sign-out leaves codes or uploads of the member before', () => {
  for (const act of [memberChanged, () => memberChanged('/')]) {
    keep()
    assert.deepEqual(kept(), [1, 1])
    act()
    assert.deepEqual(kept(), [0, 0])
  }
  assert.deepEqual(visited, ['reload', '/'])
})

test('a sign-in or a sign-out on any page is told to the other tabs; a new member keeps the own codes', async () => {
  const other = new Channel('ergon-entered')
  for (const act of [() => memberChanged('/'), tellOtherTabs]) {
    keep()
    const heard = once(other, 'message', { signal: AbortSignal.timeout(5_000) })
    act()
    await heard
  }
  other.close()
  assert.deepEqual(kept(), [1, 0])
})
