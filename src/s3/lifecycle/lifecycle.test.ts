import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import {
  isUploadDue,
  lifecycleAction,
  lifecycleClass,
  nextExpiry,
  type LifecycleVersion,
} from '#objects/lifecycle/due.ts'
import { DAY_MS, type LifecycleRule } from '#objects/lifecycle/rules.ts'
import { parseLifecycle, printLifecycle } from './lifecycle.ts'

const noId = () => 'made'
const refused = (code: string) => (error: ErgonError) => error.code === code && error.status === 400
const NOW_MS = Date.parse('2026-11-21T12:00:00Z')

const text = fc.string({ minLength: 1, maxLength: 20 })
const filters = fc.oneof(
  text.map((prefix) => ({ bare: true, prefix, tags: {} })),
  fc.record(
    {
      bare: fc.constant(false),
      prefix: text,
      tags: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
      sizeGreaterThan: fc.nat(),
      sizeLessThan: fc.nat(),
    },
    { requiredKeys: ['bare', 'tags'], noNullPrototype: true },
  ),
)
const days = fc.integer({ min: 1, max: 10_000 })
const rules = fc.record(
  {
    id: fc.uuid(),
    enabled: fc.boolean(),
    filter: filters,
    expiration: fc.oneof(
      days.map((count) => ({ days: count })),
      fc.nat(30_000).map((day) => ({ dateMs: day * DAY_MS })),
    ),
    noncurrent: fc.record(
      { days, keepNewer: fc.integer({ min: 1, max: 100 }) },
      { requiredKeys: ['days'], noNullPrototype: true },
    ),
  },
  { requiredKeys: ['id', 'enabled', 'filter', 'expiration'], noNullPrototype: true },
)

test('a lifecycle configuration survives XML', () => {
  fc.assert(
    fc.property(fc.array(rules, { minLength: 1, maxLength: 5 }), (some) => {
      const lifecycle = { rules: some }
      assert.deepEqual(parseLifecycle(Buffer.from(printLifecycle(lifecycle)), noId), lifecycle)
    }),
  )
  const bare = { bare: true, prefix: '', tags: {} }
  const lifecycle = {
    rules: [
      { id: 'a', enabled: true, filter: bare, abortUploadsDays: 3 },
      { id: 'b', enabled: false, filter: bare, expiration: { deleteMarker: true } },
      {
        id: 'c',
        enabled: true,
        filter: bare,
        expiration: { days: 91 },
        noncurrent: { days: 61 },
        transitions: [
          { storageClass: 'INTELLIGENT_TIERING', when: { days: 0 } },
          { storageClass: 'GLACIER_IR', when: { days: 90 } },
        ],
        noncurrentTransitions: [
          { storageClass: 'STANDARD_IA', days: 30, keepNewer: 2 },
          { storageClass: 'GLACIER_IR', days: 60 },
        ],
      },
      {
        id: 'd',
        enabled: true,
        filter: bare,
        transitions: [{ storageClass: 'ONEZONE_IA', when: { dateMs: 20_000 * DAY_MS } }],
      },
    ],
  }
  assert.deepEqual(parseLifecycle(Buffer.from(printLifecycle(lifecycle)), noId), lifecycle)
})

const document = (inner: string, more = '<Prefix/><Status>Enabled</Status>') =>
  `<LifecycleConfiguration><Rule>${more}${inner}</Rule></LifecycleConfiguration>`
const EXPIRE = '<Expiration><Days>1</Days></Expiration>'

test('parseLifecycle() names rules without a name, and takes conditions side by side', () => {
  assert.equal(parseLifecycle(Buffer.from(document(EXPIRE)), noId).rules[0]?.id, 'made')
  const beside =
    '<Status>Enabled</Status><Filter><Prefix>a/</Prefix><Tag><Key>t</Key><Value>v</Value></Tag>' +
    '<And><Prefix>a</Prefix><Tag><Key>u</Key><Value>w</Value></Tag></And></Filter>'
  assert.deepEqual(parseLifecycle(Buffer.from(document(EXPIRE, beside)), noId).rules[0]?.filter, {
    bare: false,
    prefix: 'a',
    tags: { t: 'v', u: 'w' },
  })
})

test('parseLifecycle() refuses what could not be done', () => {
  const twice = document(`<ID>a</ID>${EXPIRE}`).replace(/(<Rule>.*<.Rule>)/, '$1$1')
  const tagged = '<Status>Enabled</Status><Filter><Tag><Key>t</Key><Value>v</Value></Tag></Filter>'
  const rows: [xml: string, code: string][] = [
    ['<LifecycleConfiguration/>', 'MalformedXML'],
    [document(''), 'InvalidRequest'],
    [document(EXPIRE, '<Prefix/><Status>enabled</Status>'), 'MalformedXML'],
    [document(EXPIRE, '<Status>Enabled</Status>'), 'MalformedXML'],
    [document(EXPIRE, '<Filter/><Prefix/><Status>Enabled</Status>'), 'MalformedXML'],
    [document(`<ID>${'a'.repeat(256)}</ID>${EXPIRE}`), 'InvalidArgument'],
    [twice, 'InvalidArgument'],
    [document('<Expiration><Days>0</Days></Expiration>'), 'InvalidArgument'],
    [document('<Expiration/>'), 'MalformedXML'],
    [document('<Expiration><Days>1</Days><Date>2026-01-01</Date></Expiration>'), 'MalformedXML'],
    [document('<Expiration><Date>20260101</Date></Expiration>'), 'InvalidArgument'],
    [document('<Expiration><Date>2026-01-01T01:00:00Z</Date></Expiration>'), 'InvalidArgument'],
    [
      document(
        '<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>' +
          '<NewerNoncurrentVersions>101</NewerNoncurrentVersions></NoncurrentVersionExpiration>',
      ),
      'InvalidArgument',
    ],
    [
      document(
        '<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>',
        tagged,
      ),
      'InvalidRequest',
    ],
    [
      document(
        '<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
        tagged,
      ),
      'InvalidRequest',
    ],
  ]
  for (const [xml, code] of rows)
    assert.throws(() => parseLifecycle(Buffer.from(xml), noId), refused(code), xml)
})

test('parseLifecycle() refuses the transitions that AWS refuses, and those to archives', () => {
  const to = (storageClass: string, when: string, name = 'Transition') =>
    `<${name}>${when}<StorageClass>${storageClass}</StorageClass></${name}>`
  const days = (count: number) => `<Days>${count}</Days>`
  const date = '<Date>2026-01-01T00:00:00Z</Date>'
  const noncurrent = (storageClass: string, count: number) =>
    to(storageClass, `<NoncurrentDays>${count}</NoncurrentDays>`, 'NoncurrentVersionTransition')
  const expiration = (when: string) => `<Expiration>${when}</Expiration>`
  const rows: [inner: string, code: string][] = [
    [to('GLACIER', days(1)), 'InvalidStorageClass'],
    [noncurrent('DEEP_ARCHIVE', 1), 'InvalidStorageClass'],
    [to('GLACIER', '<Date>20220927</Date>'), 'InvalidArgument'],
    [to('STANDARD', days(1)), 'MalformedXML'],
    [to('LUKEWARM', days(1)), 'MalformedXML'],
    [to('GLACIER_IR', ''), 'MalformedXML'],
    [to('GLACIER_IR', days(1) + date), 'MalformedXML'],
    ['<Transition><Days>1</Days></Transition>', 'MalformedXML'],
    [to('GLACIER_IR', days(-1)), 'InvalidArgument'],
    [to('STANDARD_IA', days(29)), 'InvalidArgument'],
    [noncurrent('ONEZONE_IA', 29), 'InvalidArgument'],
    [to('GLACIER_IR', days(1)) + to('GLACIER_IR', days(2)), 'InvalidRequest'],
    [to('INTELLIGENT_TIERING', days(2)) + to('GLACIER_IR', days(2)), 'InvalidArgument'],
    [to('STANDARD_IA', days(30)) + to('GLACIER_IR', days(59)), 'InvalidArgument'],
    [noncurrent('GLACIER_IR', 1) + noncurrent('INTELLIGENT_TIERING', 2), 'InvalidArgument'],
    [to('GLACIER_IR', days(1)) + to('INTELLIGENT_TIERING', date), 'InvalidRequest'],
    [to('GLACIER_IR', days(1)) + expiration(date), 'InvalidRequest'],
    [to('GLACIER_IR', date) + expiration(days(9)), 'InvalidRequest'],
    [to('GLACIER_IR', days(9)) + expiration(days(9)), 'InvalidArgument'],
    [to('GLACIER_IR', date) + expiration(date), 'InvalidArgument'],
    [
      `${noncurrent('GLACIER_IR', 9)}<NoncurrentVersionExpiration><NoncurrentDays>9</NoncurrentDays></NoncurrentVersionExpiration>`,
      'InvalidArgument',
    ],
  ]
  for (const [inner, code] of rows)
    assert.throws(() => parseLifecycle(Buffer.from(document(inner)), noId), refused(code), inner)
})

const rule = (more: Partial<LifecycleRule>): LifecycleRule => ({
  id: 'r 1',
  enabled: true,
  filter: { bare: true, prefix: 'a/', tags: {} },
  ...more,
})
const CURRENT: LifecycleVersion = {
  key: 'a/b',
  size: 10,
  tags: { t: 'v' },
  modifiedAtMs: NOW_MS - 10_000,
  isLatest: true,
  deleteMarker: false,
  noncurrentSinceMs: undefined,
  newerNoncurrent: 0,
  alone: true,
}
const action = (rules: LifecycleRule[], more: Partial<LifecycleVersion> = {}) =>
  lifecycleAction({ rules }, { ...CURRENT, ...more }, { nowMs: NOW_MS, dayMs: 10_000 })

test('lifecycleAction() expires current objects that a rule chooses, when they are old enough', () => {
  assert.equal(action([rule({ expiration: { days: 1 } })]), 'expire')
  assert.equal(action([rule({ expiration: { days: 2 } })]), undefined)
  assert.equal(action([rule({ expiration: { days: 1 }, enabled: false })]), undefined)
  assert.equal(action([rule({ expiration: { dateMs: NOW_MS } })]), 'expire')
  assert.equal(action([rule({ expiration: { dateMs: NOW_MS + 1 } })]), undefined)
  const filter = { bare: false, tags: {} }
  const chosen = (more: object) =>
    action([rule({ expiration: { days: 1 }, filter: { ...filter, ...more } })]) === 'expire'
  assert.ok(chosen({}))
  assert.ok(chosen({ tags: { t: 'v' } }) && !chosen({ tags: { t: 'w' } }))
  assert.ok(!chosen({ tags: { constructor: 'v' } }))
  assert.ok(chosen({ sizeGreaterThan: 9 }) && !chosen({ sizeGreaterThan: 10 }))
  assert.ok(chosen({ sizeLessThan: 11 }) && !chosen({ sizeLessThan: 10 }))
  assert.ok(!chosen({ prefix: 'b' }))
})

test('lifecycleAction() removes old noncurrent versions, and markers with nothing under them', () => {
  const old = { isLatest: false, noncurrentSinceMs: NOW_MS - 10_000, alone: false }
  assert.equal(action([rule({ noncurrent: { days: 1 } })], old), 'remove')
  assert.equal(action([rule({ noncurrent: { days: 2 } })], old), undefined)
  const keep = [rule({ noncurrent: { days: 1, keepNewer: 5 } })]
  assert.equal(action(keep, { ...old, newerNoncurrent: 4 }), undefined)
  assert.equal(action(keep, { ...old, newerNoncurrent: 5 }), 'remove')
  const clean = [rule({ expiration: { deleteMarker: true } })]
  assert.equal(action(clean, { deleteMarker: true }), 'remove')
  assert.equal(action(clean, { deleteMarker: true, alone: false }), undefined)
  assert.equal(action(clean), undefined)
  assert.equal(action([rule({ expiration: { days: 1 } })], { deleteMarker: true }), 'remove')
  assert.equal(action([rule({ expiration: { days: 2 } })], { deleteMarker: true }), undefined)
})

test('lifecycleClass() moves a version down to the last class that is due, and never up', () => {
  const transitions = [
    { storageClass: 'GLACIER_IR', when: { days: 2 } },
    { storageClass: 'INTELLIGENT_TIERING', when: { days: 1 } },
  ]
  const noncurrentTransitions = [{ storageClass: 'GLACIER_IR', days: 1, keepNewer: 1 }]
  const rules = [rule({ transitions, noncurrentTransitions })]
  const classOf = (ageMs: number, more: object = {}) =>
    lifecycleClass(
      { rules },
      { ...CURRENT, storageClass: 'STANDARD', modifiedAtMs: NOW_MS - ageMs, ...more },
      { nowMs: NOW_MS, dayMs: 10_000 },
    )
  assert.equal(classOf(9_999), undefined)
  assert.equal(classOf(10_000), 'INTELLIGENT_TIERING')
  assert.equal(classOf(10_000, { storageClass: 'INTELLIGENT_TIERING' }), undefined)
  assert.equal(classOf(10_000, { storageClass: 'GLACIER_IR' }), undefined)
  assert.equal(classOf(20_000), 'GLACIER_IR')
  assert.equal(classOf(20_000, { key: 'other' }), undefined)
  assert.equal(classOf(20_000, { deleteMarker: true }), undefined)
  const old = { isLatest: false, noncurrentSinceMs: NOW_MS - 10_000, alone: false }
  assert.equal(classOf(20_000, old), undefined)
  assert.equal(classOf(20_000, { ...old, newerNoncurrent: 1 }), 'GLACIER_IR')
})

test('isUploadDue() looks at prefix and age', () => {
  const lifecycle = { rules: [rule({ abortUploadsDays: 2 })] }
  const at = { nowMs: NOW_MS, dayMs: 10_000 }
  const due = (key: string, ageMs: number) =>
    isUploadDue(lifecycle, { key, initiatedAtMs: NOW_MS - ageMs }, at)
  assert.ok(due('a/x', 20_000))
  assert.ok(!due('a/x', 19_999))
  assert.ok(!due('b', 20_000))
})

test('nextExpiry() names the first midnight after the days are over', () => {
  const rules = [rule({ id: 'late', expiration: { days: 9 } }), rule({ expiration: { days: 1 } })]
  const object = { ...CURRENT, modifiedAtMs: NOW_MS }
  assert.deepEqual(nextExpiry({ rules }, object), {
    atMs: Date.parse('2026-11-23T00:00:00Z'),
    ruleId: 'r 1',
  })
  assert.equal(nextExpiry({ rules }, { ...object, key: 'x' }), undefined)
  assert.equal(nextExpiry(undefined, object), undefined)
})

test('a prefix is no longer than a key', () => {
  const parse = (prefix: string) => {
    const filter = { bare: false, prefix, tags: {} }
    const rule = { id: 'a', enabled: true, filter, expiration: { days: 1 } }
    return parseLifecycle(Buffer.from(printLifecycle({ rules: [rule] })), noId)
  }
  assert.equal(parse('x'.repeat(1024)).rules.length, 1)
  assert.throws(() => parse('ü'.repeat(513)), refused('InvalidRequest'))
})
