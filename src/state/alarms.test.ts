import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ALARMS } from '#contract/node/alarms.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { raiseAlarm, type AlarmKey } from './alarms.ts'

test('raiseAlarm() raises an alarm with a key once', { skip: whyNoState() }, async () => {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 3)
  const raise = (once?: AlarmKey) => raiseAlarm(state, 'task_dead', { task: 'a' }, once)
  const acknowledge = () => state.query('update alarms set acknowledged_at = now()')
  assert.deepEqual([await raise(), await raise()], [true, true])
  // Longer than an entry of an index may be.
  const key = 'k'.repeat(10_000)
  assert.deepEqual((await Promise.all([1, 2, 3].map(() => raise({ key })))).filter(Boolean), [true])
  await acknowledge()
  assert.deepEqual([await raise({ key }), await raise({ key })], [true, false])
  assert.deepEqual([await raise({ key: 'b', lasts: true })], [true])
  await acknowledge()
  assert.deepEqual([await raise({ key: 'b', lasts: true }), await raise({ key })], [false, true])
})

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = globSync('src/**/*.{ts,sql}', { cwd: ROOT })
  .filter((path) => !/(\.test|\.fixture)\.ts$|contract\/alarms\.ts$/.test(path))
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))

/** The kinds that calls in a source text raise; a kind that a comment or another string names is not raised. */
function raisedKinds(source: string): string[] {
  const code = source.replaceAll(/(?<=^|\s)(?:\/\/|--|\/?\*).*$/gm, '')
  const calls = /(?:\braise_alarm|\braiseAlarm|\braiseOnce|\balarm)\(\s*(?:\w+,\s*)?'(\w+)'/g
  return [...code.matchAll(calls)].map(([, kind = '']) => kind)
}

test('every alarm that is raised is listed, and every listed alarm is raised and in the guide', () => {
  const raised = new Set(SOURCES.flatMap(raisedKinds))
  assert.deepEqual([...raised].toSorted(), Object.keys(ALARMS).toSorted())
  const guide = readFileSync(join(ROOT, 'docs/guide/operating.md'), 'utf8')
  for (const [kind, finding] of Object.entries(ALARMS))
    assert.ok(guide.includes(`| \`${kind}\` | ${finding}`), `the guide has ${kind}: ${finding}`)
})

test('a kind that a text only names is not raised', () => {
  const named = [
    "// raiseAlarm(state, 'planted', {})",
    "  /** raiseAlarm(state, 'planted', {}) */",
    "  -- perform raise_alarm('planted', detail)",
    "const KINDS = ['planted']",
    "select from alarms where kind = 'planted'",
  ]
  assert.deepEqual(named.flatMap(raisedKinds), [])
  const calls = [
    "raiseAlarm(state, 'a', {}) // b",
    "perform raise_alarm('c', d)",
    "ledger.alarm('e', {",
  ]
  assert.deepEqual(raisedKinds(calls.join('\n')), ['a', 'c', 'e'])
})
