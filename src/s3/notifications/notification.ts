// The notification configuration of a bucket. Its one target is the topic `events` of the owner's account: the list
// of `GET /<bucket>?events`. Functions, queues, buses and other topics do not exist and are refused. The SQL that
// writes an event decides which rule matches (objects/sql/common.sql).
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlFields, optionalText, xmlText } from '#s3/xml/fields.ts'
import { KEY_BYTES_MAX } from '#s3/target.ts'
import { malformedXml, parseXml, type XmlElement } from '#s3/xml/read.ts'
import { writeXml, type XmlNode } from '#s3/xml/write.ts'

const RULES_MAX = 100
const ID_MAX = 255
const EVENTS = [
  's3:ObjectCreated:*',
  's3:ObjectCreated:Put',
  's3:ObjectCreated:Post',
  's3:ObjectCreated:Copy',
  's3:ObjectCreated:CompleteMultipartUpload',
  's3:ObjectRemoved:*',
  's3:ObjectRemoved:Delete',
  's3:ObjectRemoved:DeleteMarkerCreated',
] as const
type EventName = (typeof EVENTS)[number]

export type NotificationRule = {
  readonly id: string
  /** As stored; the account in the name may be left out. */
  readonly arn: string
  readonly events: readonly EventName[]
  readonly prefix?: string
  readonly suffix?: string
}
/** Without rules notifications are off. */
export type NotificationDocument = { readonly rules: readonly NotificationRule[] }

const ARN = /^arn:aws:sns:[\w-]*:([\w-]*):events$/

/**
 * Reads a `NotificationConfiguration` of a bucket of `account`; `newId` names rules that have no Id.
 * Throws MalformedXML, InvalidArgument.
 */
export function parseNotification(
  body: Buffer,
  context: { newId: () => string; account: string },
): NotificationDocument {
  const found = xmlFields(parseXml(body, 'NotificationConfiguration'), {
    TopicConfiguration: 'many',
    CloudFunctionConfiguration: 'many',
    QueueConfiguration: 'many',
    EventBridgeConfiguration: 'optional',
  })
  const others = [...found.CloudFunctionConfiguration, ...found.QueueConfiguration]
  if (others.length > 0 || found.EventBridgeConfiguration !== undefined)
    throw unknownTarget('functions, queues and event buses do not exist here')
  const rules = found.TopicConfiguration.map((one) => parseRule(one, context))
  if (rules.length > RULES_MAX)
    throw malformedXml(`There are more than ${RULES_MAX} configurations`)
  if (new Set(rules.map(({ id }) => id)).size < rules.length)
    throw argument('The same ID is used for multiple configurations. Each ID must be unique.')
  for (const [index, rule] of rules.entries())
    if (rules.slice(0, index).some((earlier) => overlaps(earlier, rule)))
      throw argument(
        'Configurations overlap. Configurations on the same bucket cannot share a common event type.',
      )
  return { rules }
}

function parseRule(
  element: XmlElement,
  { newId, account }: { newId: () => string; account: string },
): NotificationRule {
  const found = xmlFields(element, {
    Id: 'optional',
    Topic: 'one',
    Event: 'many',
    Filter: 'optional',
  })
  const arn = xmlText(found.Topic).trim()
  const named = ARN.exec(arn)?.[1]
  if (named === undefined || (named !== '' && named !== account)) throw unknownTarget(arn)
  const id = optionalText(found.Id) ?? ''
  if (id.length > ID_MAX) throw argument(`The Id is longer than ${ID_MAX} characters`)
  if (found.Event.length === 0) throw malformedXml('A configuration has no Event')
  return {
    id: id === '' ? newId() : id,
    arn,
    events: found.Event.map(parseEvent),
    ...(found.Filter === undefined ? {} : parseFilter(found.Filter)),
  }
}

function parseEvent(element: XmlElement): EventName {
  const event = EVENTS.find((known) => known === xmlText(element).trim())
  if (event === undefined)
    throw argument('The event is not supported for notifications', {
      ArgumentName: 'Event',
      ArgumentValue: xmlText(element),
    })
  return event
}

function parseFilter(element: XmlElement): { prefix?: string; suffix?: string } {
  const { S3Key } = xmlFields(element, { S3Key: 'optional' })
  const filter: { prefix?: string; suffix?: string } = {}
  if (S3Key === undefined) return filter
  for (const rule of xmlFields(S3Key, { FilterRule: 'many' }).FilterRule) {
    const { Name, Value } = xmlFields(rule, { Name: 'one', Value: 'one' })
    const name = xmlText(Name).trim().toLowerCase()
    if (name !== 'prefix' && name !== 'suffix')
      throw argument('filter rule name must be either prefix or suffix')
    if (filter[name] !== undefined)
      throw argument('Cannot specify more than one prefix or suffix rule in a filter.')
    filter[name] = xmlText(Value)
    if (Buffer.byteLength(xmlText(Value)) > KEY_BYTES_MAX)
      throw argument(`Size of filter rule value cannot exceed ${KEY_BYTES_MAX} bytes in UTF-8`)
  }
  return filter
}

/** AWS refuses two rules that can match the same event. */
function overlaps(one: NotificationRule, other: NotificationRule): boolean {
  const meet = (a = '', b = '') => a.startsWith(b) || b.startsWith(a)
  const end = (a = '', b = '') => a.endsWith(b) || b.endsWith(a)
  return (
    one.events.some((event) =>
      other.events.some((also) => isOf(event, also) || isOf(also, event)),
    ) &&
    meet(one.prefix, other.prefix) &&
    end(one.suffix, other.suffix)
  )
}

const isOf = (event: EventName, rule: EventName): boolean =>
  rule === event || (rule.endsWith('*') && event.startsWith(rule.slice(0, -1)))

/** Without a configuration the document is empty. */
export const printNotification = (notification: NotificationDocument | undefined): string =>
  writeXml(
    'NotificationConfiguration',
    (notification?.rules ?? []).map((rule): XmlNode => [
      'TopicConfiguration',
      [
        ['Id', rule.id],
        ['Topic', rule.arn],
        ...rule.events.map((event): XmlNode => ['Event', event]),
        ['Filter', filterNodes(rule)],
      ],
    ]),
  )

function filterNodes({ prefix, suffix }: NotificationRule): XmlNode[] | undefined {
  const rules = [['prefix', prefix] as const, ['suffix', suffix] as const].filter(
    ([, value]) => value !== undefined,
  )
  if (rules.length === 0) return undefined
  const nodes = rules.map(([name, value]): XmlNode => [
    'FilterRule',
    [
      ['Name', name],
      ['Value', value],
    ],
  ])
  return [['S3Key', nodes]]
}

const argument = (message: string, details?: Record<string, string>) =>
  storageFault('InvalidArgument', message, details)
const unknownTarget = (value: string) =>
  argument('Unable to validate the following destination configurations', {
    ArgumentName: 'Destination',
    ArgumentValue: value,
  })
