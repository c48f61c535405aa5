// The limits of live streams: each says whose it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIVE_STREAMS_MAX, LIVE_STREAMS_OF_ALL_MAX } from '#contract/live/live.ts'
import { createWatcher } from './watcher.ts'

const open = () =>
  createWatcher({
    requestsOf: () => 0,
    marks: { operator: { cpuNs: 0 }, mark() {} },
    charging: { spends: [] as never },
    clock: { wallMs: () => 0, monotonicMs: () => 0, setTimer: () => () => {} },
    log: { warn() {} } as never,
    read: () => assert.fail('no time passes, so nothing is read'),
  })

test('subscribe() refuses an account its ninth stream, and an end makes room', () => {
  const watcher = open()
  const streams = Array.from({ length: LIVE_STREAMS_MAX }, () => watcher.subscribe('a', () => {}))
  const refused = { code: 'too_many_requests', message: /an account may have 8 at once/ }
  assert.throws(() => watcher.subscribe('a', () => {}), refused)
  streams[0]?.end()
  watcher.subscribe('a', () => {})
})

test('subscribe() says of a full gateway that the gateway is full, and not the account', () => {
  const watcher = open()
  for (let n = 0; n < LIVE_STREAMS_OF_ALL_MAX; n++) watcher.subscribe(`a${n}`, () => {})
  const refused = { code: 'overloaded', message: /this gateway has 1000 of all accounts/ }
  assert.throws(() => watcher.subscribe('another', () => {}), refused)
})
