import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createLogger, type LogLevel } from '#base/log.ts'
import { fault, type Code } from '#contract/errors.ts'
import { createFailures } from './failures.ts'
import { createBreaker } from './providers/breaker.ts'
import type { ServerFault } from './providers/server-states.ts'
import type { Provider } from './providers/provider.ts'
import { offerOf, quietLog } from './testing/offers.ts'

const providerOf = (more: Partial<Provider>) => more as Provider

function listen(level: LogLevel) {
  const lines: unknown[] = []
  const time = { ms: 5 }
  const write = (line: string) => {
    const { level: at, model, error, since_last } = JSON.parse(line) as Record<string, unknown>
    lines.push([at, model, error, ...(since_last === undefined ? [] : [since_last])])
  }
  const failures = createFailures({
    log: createLogger('test', { level, write }),
    clock: { wallMs: () => 0, monotonicMs: () => time.ms },
    providers: new Map(),
  })
  const failed = (id: string, error: unknown) => failures.tell(offerOf({ id, provider: id }), error)
  return { lines, time, failed }
}

it('failures of an upstream are told once a second for each offer, with how many were not', () => {
  const { lines, time, failed } = listen('warn')
  for (let i = 0; i < 200; i++) failed('one', fault('upstream_failed', `Could not ${i}`))
  failed('two', fault('upstream_timeout', 'Could not wait'))
  time.ms += 999
  failed('one', new TypeError('ours'))
  time.ms += 1
  failed('one', new TypeError('ours'))
  assert.deepEqual(lines, [
    ['warn', 'one', 'Could not 0'],
    ['warn', 'two', 'Could not wait'],
    ['warn', 'one', 'ours', 200],
  ])
})

it('the code of a connection that failed is in the log, and is not told to callers', () => {
  const written: string[] = []
  const failures = createFailures({
    log: createLogger('test', { write: (line) => written.push(line) }),
    clock: { wallMs: () => 0, monotonicMs: () => 0 },
    providers: new Map(),
  })
  const cause = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  failures.tell(offerOf({ id: 'one' }), fault('upstream_failed', 'Could not read', { cause }))
  const { error, cause: told } = JSON.parse(written[0] ?? '{}') as Record<string, unknown>
  assert.deepEqual([error, told], ['Could not read', 'ECONNRESET'])
})

it('mistakes of callers and what is too much at once are for debugging', () => {
  const codes: Code[] = [
    'invalid_request',
    'context_length_exceeded',
    'overloaded',
    'ceiling_reached',
  ]
  const { lines, failed } = listen('info')
  for (const code of [...codes, 'too_many_requests'] as Code[])
    failed('one', fault(code, 'Could not'))
  assert.deepEqual(lines, [])
  const close = listen('debug')
  close.failed('one', fault('invalid_request', 'Could not'))
  assert.deepEqual(close.lines, [['debug', 'one', 'Could not']])
})

it('an offer rests as long as its breaker, or while nobody is at its server', () => {
  const time = { ms: 5 }
  const clock = { wallMs: () => 0, monotonicMs: () => time.ms }
  const policy = { failuresMax: 1, pauseMs: 100, pauseMsMax: 100 }
  const breaker = createBreaker('one', clock, policy)
  const faults = new Map<string, ServerFault>()
  const servers = { faultOf: (name: string) => faults.get(name) }
  const providers = new Map([
    ['one', providerOf({ breaker })],
    ['two', providerOf({})],
  ])
  const failures = createFailures({ log: quietLog, clock, providers, servers })
  const rests = () =>
    ['one', 'two', 'gone'].map((id) => failures.rests(offerOf({ id, provider: id })))
  assert.deepEqual(rests(), [false, false, false])
  breaker.enter().failed()
  assert.deepEqual(rests(), [true, false, false])
  time.ms += 100
  faults.set('two', 'unauthorized')
  assert.deepEqual(rests(), [false, true, false])
  assert.equal(failures.faultOf(offerOf({ provider: 'two' })), 'unauthorized')
})
