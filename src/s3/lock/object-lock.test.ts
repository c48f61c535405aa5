import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import type { Retention } from '#objects/types.ts'
import {
  checkRetentionChange,
  defaultRetentionOf,
  lockHeaders,
  parseLegalHold,
  parseLockHeaders,
  parseObjectLock,
  parseRetention,
  printLegalHold,
  printObjectLock,
  printRetention,
  type ObjectLock,
} from './object-lock.ts'

const NOW_MS = Date.parse('2028-02-29T12:00:00Z')
const refused =
  (code: string, status = 400) =>
  (error: ErgonError) =>
    error.code === code && error.status === status
const modes = fc.constantFrom('GOVERNANCE' as const, 'COMPLIANCE' as const)
const retentions = fc.record(
  { mode: modes, untilMs: fc.integer({ min: NOW_MS + 1, max: NOW_MS + 1e12 }) },
  { noNullPrototype: true },
)

test('lock, retention and legal hold survive XML and headers', () => {
  const locks: fc.Arbitrary<ObjectLock> = fc.oneof(
    fc.constant({}),
    fc
      .tuple(modes, fc.integer({ min: 1, max: 100 }), fc.boolean())
      .map(([mode, count, isDays]) => ({
        defaultRetention: isDays ? { mode, days: count } : { mode, years: count },
      })),
  )
  fc.assert(
    fc.property(locks, retentions, fc.boolean(), (lock, retention, legalHold) => {
      assert.deepEqual(parseObjectLock(Buffer.from(printObjectLock(lock))), lock)
      assert.deepEqual(parseRetention(Buffer.from(printRetention(retention)), NOW_MS), retention)
      assert.equal(parseLegalHold(Buffer.from(printLegalHold(legalHold))), legalHold)
      const headers = lockHeaders(retention, legalHold)
      assert.deepEqual(parseLockHeaders(headers, NOW_MS), { retention, legalHold })
    }),
  )
  assert.equal(parseRetention(Buffer.from('<Retention/>'), NOW_MS), null)
  assert.deepEqual(parseLockHeaders(lockHeaders(null, undefined), NOW_MS), {})
})

test('locks are refused as AWS refuses them', () => {
  const lock =
    (inner: string, enabled = 'Enabled') =>
    () =>
      parseObjectLock(
        Buffer.from(
          `<ObjectLockConfiguration><ObjectLockEnabled>${enabled}</ObjectLockEnabled>` +
            `<Rule><DefaultRetention>${inner}</DefaultRetention></Rule></ObjectLockConfiguration>`,
        ),
      )
  const mode = '<Mode>GOVERNANCE</Mode>'
  const rows: [run: () => unknown, code: string][] = [
    [lock(`${mode}<Days>1</Days><Years>1</Years>`), 'MalformedXML'],
    [lock(mode), 'MalformedXML'],
    [lock('<Mode>governance</Mode><Days>1</Days>'), 'MalformedXML'],
    [lock(`${mode}<Days>1</Days>`, 'Disabled'), 'MalformedXML'],
    [lock(`${mode}<Days>0</Days>`), 'InvalidRetentionPeriod'],
    [lock(`${mode}<Years>-1</Years>`), 'InvalidRetentionPeriod'],
    [lock(`${mode}<Years>101</Years>`), 'InvalidRetentionPeriod'],
    [() => parseRetention(Buffer.from(`<Retention>${mode}</Retention>`), 0), 'MalformedXML'],
    [
      () => parseRetention(Buffer.from(printRetention({ mode: 'COMPLIANCE', untilMs: 1 })), 1),
      'InvalidArgument',
    ],
    [
      () => parseLegalHold(Buffer.from('<LegalHold><Status>on</Status></LegalHold>')),
      'MalformedXML',
    ],
    [() => parseLockHeaders({ 'x-amz-object-lock-legal-hold': 'on' }, 0), 'InvalidArgument'],
    [() => parseLockHeaders({ 'x-amz-object-lock-mode': 'GOVERNANCE' }, 0), 'InvalidArgument'],
    [
      () =>
        parseLockHeaders(
          {
            'x-amz-object-lock-mode': 'abc',
            'x-amz-object-lock-retain-until-date': '2030-01-01T00:00:00Z',
          },
          0,
        ),
      'InvalidArgument',
    ],
    [
      () =>
        parseLockHeaders(
          {
            'x-amz-object-lock-mode': 'COMPLIANCE',
            'x-amz-object-lock-retain-until-date': 'Tuesday',
          },
          0,
        ),
      'InvalidArgument',
    ],
    [
      // A policy's conditions on the date would not be read.
      () =>
        parseLockHeaders(
          {
            'x-amz-object-lock-mode': 'COMPLIANCE',
            'x-amz-object-lock-retain-until-date': ' 2099-01-01T00:00:00Z',
          },
          0,
        ),
      'InvalidArgument',
    ],
  ]
  for (const [run, code] of rows) assert.throws(run, refused(code))
})

test('defaultRetentionOf() counts days of 24 hours and years of the calendar', () => {
  const until = (defaultRetention: ObjectLock['defaultRetention'] & object) =>
    new Date(defaultRetentionOf({ defaultRetention }, NOW_MS)?.untilMs ?? 0).toISOString()
  assert.equal(until({ mode: 'GOVERNANCE', days: 2 }), '2028-03-02T12:00:00.000Z')
  assert.equal(until({ mode: 'GOVERNANCE', years: 1 }), '2029-03-01T12:00:00.000Z')
  assert.equal(defaultRetentionOf({}, NOW_MS), null)
  assert.equal(defaultRetentionOf(undefined, NOW_MS), null)
})

test('checkRetentionChange() lets a retention in force only be extended', () => {
  const later = 1000
  const kept = (mode: Retention['mode'], untilMs: number): Retention => ({ mode, untilMs })
  const rows: [
    current: Retention | null,
    wanted: Retention | null,
    free: boolean,
    bypass: boolean,
  ][] = [
    [null, kept('COMPLIANCE', 5), true, true],
    [kept('COMPLIANCE', 10), null, true, true],
    [kept('GOVERNANCE', later), kept('GOVERNANCE', later + 1), true, true],
    [kept('GOVERNANCE', later), kept('GOVERNANCE', later - 1), false, true],
    [kept('GOVERNANCE', later), kept('COMPLIANCE', later), false, true],
    [kept('GOVERNANCE', later), null, false, true],
    [kept('COMPLIANCE', later), kept('COMPLIANCE', later), true, true],
    [kept('COMPLIANCE', later), kept('COMPLIANCE', later - 1), false, false],
    [kept('COMPLIANCE', later), kept('GOVERNANCE', later), false, false],
    [kept('COMPLIANCE', later), null, false, false],
  ]
  for (const [current, wanted, free, bypass] of rows)
    for (const [bypasses, allowed] of [
      [false, free],
      [true, bypass],
    ] as const) {
      const run = () => checkRetentionChange(current, wanted, { nowMs: 10, bypasses })
      if (allowed) run()
      else assert.throws(run, refused('AccessDenied', 403), JSON.stringify([current, wanted]))
    }
})
