import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import { logKey, parseLogging, printLogging, type Logging } from '#s3/logging/logging.ts'
import { parseNotification, printNotification, type NotificationRule } from './notification.ts'

const CONTEXT = { newId: () => 'made', account: 'acct_a' }
const refused =
  (code: string, status = 400) =>
  (error: ErgonError) =>
    error.code === code && error.status === status
const rule = (more: Partial<NotificationRule>): NotificationRule => ({
  id: 'r',
  arn: 'arn:aws:sns:eu-1:acct_a:events',
  events: ['s3:ObjectCreated:*'],
  ...more,
})
const again = (...rules: NotificationRule[]) =>
  parseNotification(Buffer.from(printNotification({ rules })), CONTEXT)

test('a notification configuration survives XML', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 10 }).filter((one) => one.isWellFormed())
  fc.assert(
    fc.property(texts, texts, (prefix, suffix) => {
      const rules = [
        rule({ prefix: `a${prefix}`, suffix }),
        rule({ id: 's', events: ['s3:ObjectCreated:Copy'], prefix: `b${prefix}` }),
        rule({
          id: 't',
          arn: 'arn:aws:sns:::events',
          events: ['s3:ObjectCreated:Put', 's3:ObjectCreated:Post'],
          prefix: 'c',
        }),
      ]
      assert.deepEqual(again(...rules), { rules })
    }),
  )
  assert.deepEqual(again(), { rules: [] })
  assert.doesNotMatch(printNotification(undefined), /Configuration>./)
})

test('parseNotification() refuses what would never be delivered', () => {
  const rows: [rules: NotificationRule[], code: string][] = [
    [[rule({ arn: 'arn:aws:sqs:::queue' })], 'InvalidArgument'],
    [[rule({ arn: 'arn:aws:sns:::topic' })], 'InvalidArgument'],
    [[rule({ arn: 'arn:aws:sns:eu-1:acct_b:events' })], 'InvalidArgument'],
    [[rule({ events: [] })], 'MalformedXML'],
    [[rule({ id: 'x'.repeat(256) })], 'InvalidArgument'],
    [[rule({}), rule({ prefix: 'a' })], 'InvalidArgument'],
    [[rule({ id: 'a', prefix: 'a' }), rule({ id: 'b', prefix: 'ab' })], 'InvalidArgument'],
    [
      [rule({ id: 'a', suffix: 'g' }), rule({ id: 'b', events: ['s3:ObjectCreated:Put'] })],
      'InvalidArgument',
    ],
  ]
  for (const [rules, code] of rows)
    assert.throws(() => again(...rules), refused(code), JSON.stringify(rules))
  const xml = printNotification({ rules: [rule({ prefix: 'a' })] })
  const other = (from: string | RegExp, to: string) => () =>
    parseNotification(Buffer.from(xml.replace(from, to)), CONTEXT)
  assert.throws(other('ObjectCreated:*', 'ObjectTagging:*'), refused('InvalidArgument'))
  assert.throws(other('>prefix<', '>infix<'), refused('InvalidArgument'))
  assert.throws(other(/(<FilterRule>.*<.FilterRule>)/, '$1$1'), refused('InvalidArgument'))
  assert.throws(other('<Id>', '<EventBridgeConfiguration/><Id>'), refused('MalformedXML'))
  for (const kind of ['Queue', 'CloudFunction', 'EventBridge']) {
    const more = `<${kind}Configuration/></NotificationConfiguration>`
    assert.throws(other('</NotificationConfiguration>', more), refused('InvalidArgument'), kind)
  }
  assert.equal(other('<Id>r</Id>', '')().rules[0]?.id, 'made')
})

test('a logging configuration survives XML, and its objects have names of their time', () => {
  const formats: Logging['format'][] = [
    'simple',
    { partitioned: 'EventTime' },
    { partitioned: 'DeliveryTime' },
  ]
  for (const format of formats) {
    const logging = { bucket: 'logs', prefix: 'p/', format }
    assert.deepEqual(parseLogging(Buffer.from(printLogging(logging))), logging)
  }
  assert.equal(parseLogging(Buffer.from(printLogging(undefined))), undefined)
  const batch = {
    account: 'acct_a',
    region: 'eu-1',
    sourceBucket: 'photos',
    eventTimeMs: Date.parse('2026-11-20T23:59:59Z'),
    deliveryTimeMs: Date.parse('2026-11-21T00:10:00Z'),
    unique: '0123456789ABCDEF',
  }
  const names = formats.map((format) => logKey({ bucket: 'logs', prefix: 'p/', format }, batch))
  assert.deepEqual(names, [
    'p/2026-11-21-00-10-00-0123456789ABCDEF',
    'p/acct_a/eu-1/photos/2026/11/20/2026-11-20-23-59-59-0123456789ABCDEF',
    'p/acct_a/eu-1/photos/2026/11/21/2026-11-21-00-10-00-0123456789ABCDEF',
  ])
})

test('parseLogging() refuses what would have no effect', () => {
  const parse = (inner: string) => () =>
    parseLogging(
      Buffer.from(
        `<BucketLoggingStatus><LoggingEnabled>${inner}</LoggingEnabled></BucketLoggingStatus>`,
      ),
    )
  const target = '<TargetBucket>logs</TargetBucket><TargetPrefix/>'
  assert.deepEqual(parse(target)(), { bucket: 'logs', prefix: '', format: 'simple' })
  const grants = '<TargetGrants><Grant/></TargetGrants>'
  assert.throws(parse(target + grants), refused('NotImplemented', 501))
  assert.throws(parse('<TargetBucket>logs</TargetBucket>'), refused('MalformedXML'))
  const empty = '<TargetObjectKeyFormat/>'
  assert.throws(parse(target + empty), refused('MalformedXML'))
  const long = `<TargetBucket>l</TargetBucket><TargetPrefix>${'a'.repeat(513)}</TargetPrefix>`
  assert.throws(parse(long), refused('InvalidArgument'))
})

test('a filter is no longer than a key', () => {
  assert.deepEqual(again(rule({ suffix: 'x'.repeat(1024) })).rules.length, 1)
  assert.throws(() => again(rule({ suffix: 'ü'.repeat(513) })), refused('InvalidArgument'))
})
