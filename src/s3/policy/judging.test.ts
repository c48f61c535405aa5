// The cost of judging a request: bounded, counted, and paid once for parts that stay the same.
import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import type { ErgonError } from '#base/errors.ts'
import { Judging, JUDGING_STEPS_MAX } from './judging.ts'
import { policyOf, request } from './policy.fixture.ts'
import { evaluatePolicy, POLICY_BYTES_MAX } from './policy.ts'

const tooLong = (error: ErgonError) => error.code === 'AccessDenied'

test('evaluatePolicy() refuses what takes too long to judge, and counts what it took', () => {
  const headers = { referer: 'a'.repeat(2000) }
  const like = (run: string) =>
    policyOf({ Condition: { StringLike: { 'aws:Referer': Array(36).fill(`*${run}b*`) } } })
  assert.ok(POLICY_BYTES_MAX > like('a'.repeat(500)).text.length)
  assert.equal(evaluatePolicy(like('a'.repeat(500)), request({}, { headers })), undefined)
  assert.throws(
    () => evaluatePolicy(like(`?${'a'.repeat(500)}`), request({}, { headers })),
    tooLong,
  )
  // Steps that one judgement left are left for the request's next judgements.
  const all = like('a'.repeat(500))
  const { judging } = request()
  const ask = (end: string) =>
    evaluatePolicy(all, request({ judging }, { headers: { referer: headers.referer + end } }))
  assert.throws(() => {
    for (let asked = 0; asked < JUDGING_STEPS_MAX / 72_000; asked++) ask(String(asked))
  }, tooLong)
})

test('evaluatePolicy() counts a long value again for each that it is compared with', () => {
  const rows: [operator: string, wanted: string, found: string][] = [
    ['ArnLike', ':::::x', ':'.repeat(2048)],
    ['DateEquals', '1', '1 '.repeat(1024)],
    ['NumericEquals', '1', '2'.repeat(2048)],
    ['StringEqualsIgnoreCase', 'x', 'Y'.repeat(2048)],
  ]
  for (const [operator, wanted, referer] of rows) {
    const all = policyOf({ Condition: { [operator]: { 'aws:Referer': Array(1500).fill(wanted) } } })
    assert.throws(
      () => evaluatePolicy(all, request({}, { headers: { referer } })),
      tooLong,
      operator,
    )
    assert.equal(
      evaluatePolicy(all, request({}, { headers: { referer: referer.slice(0, 100) } })),
      undefined,
    )
  }
})

test('evaluatePolicy() never takes too long for patterns without ? and a key', () => {
  for (const run of ['a', 'aaa', `${'a'.repeat(400)}b`]) {
    const pattern = `arn:aws:s3:::photos/*${run}${run === 'a' ? 'b' : ''}*`
    const count = Math.floor((POLICY_BYTES_MAX - 200) / (pattern.length + 3))
    const all = policyOf({ Resource: Array(count).fill(pattern) })
    const resource = `photos/${'a'.repeat(1024)}`
    assert.doesNotThrow(() => evaluatePolicy(all, request({ resource })))
  }
})

test('evaluatePolicy() judges what needs no key once for each request', () => {
  const subnets = Array.from({ length: 256 }, (_, index) => `10.0.${index}.0/24`)
  const all = policyOf({ Condition: { IpAddress: { 'aws:SourceIp': subnets } } })
  let steps = 0
  class Counting extends Judging {
    override spend(more: number) {
      steps += more
    }
  }
  const judging = new Counting()
  const ask = (sourceIp: string) => {
    const before = steps
    const verdict = evaluatePolicy(all, request({ judging }, { sourceIp }))
    return { verdict, steps: steps - before }
  }
  const first = ask('10.0.255.1')
  const again = ask('10.0.255.1')
  assert.deepEqual([first.verdict, again.verdict], ['allow', 'allow'])
  assert.ok(again.steps < 50 && first.steps > 4000, `${first.steps}, then ${again.steps}`)
  assert.equal(ask('10.1.0.1').verdict, undefined)
})

test('evaluatePolicy() lets nobody in by a value too long for a condition', () => {
  const all = policyOf(
    {},
    { Effect: 'Deny', Condition: { StringLike: { 'aws:Referer': '*evil*' } } },
  )
  const from = (referer: string) => () =>
    evaluatePolicy(all, request({}, { headers: { referer } })) === 'allow'
  assert.ok(from('a'.repeat(2048))())
  assert.ok(!from('evil')())
  assert.throws(from(`evil${'a'.repeat(2045)}`), tooLong)
})

test('evaluatePolicy() builds nothing of the networks that it compares with', (context) => {
  const networks = Array.from({ length: 1000 }, (_, index) => `10.${index >> 8}.${index & 255}.1`)
  const policy = policyOf({ Condition: { IpAddress: { 'aws:SourceIp': networks } } })
  const built = context.mock.method(BlockList.prototype, 'addSubnet')
  assert.equal(evaluatePolicy(policy, request({}, { sourceIp: '10.3.231.1' })), 'allow')
  assert.equal(evaluatePolicy(policy, request({}, { sourceIp: '10.3.232.1' })), undefined)
  assert.equal(built.mock.callCount(), 0)
})
