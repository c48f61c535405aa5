// The notification configuration of a bucket. It can name functions (as Lambda functions) and webhook
// endpoints (as SNS topics); there are no queues and no event bus, and only the creation of objects is
// told. What would never be delivered is refused.
import { storageFault } from '#storage/errors.ts'
import { fieldsOf, optionalText, textOf } from '#storage/s3/xml/fields.ts'
import { malformed, parseXml, type XmlElement } from '#storage/s3/xml/read.ts'
import { writeXml, type XmlNode } from '#storage/s3/xml/write.ts'

const RULES_MAX = 100
const ID_MAX = 255
const EVENTS = [
  's3:ObjectCreated:*',
  's3:ObjectCreated:Put',
  's3:ObjectCreated:Post',
  's3:ObjectCreated:Copy',
  's3:ObjectCreated:CompleteMultipartUpload',
] as const
export type EventName = (typeof EVENTS)[number]

export type NotificationRule = {
  readonly id: string
  readonly kind: 'function' | 'webhook'
  /** The name or id at the end of the ARN. */
  readonly target: string
  /** As it was put. */
  readonly arn: string
  readonly events: readonly EventName[]
  readonly prefix?: string
  readonly suffix?: string
}
/** No rules: no notifications, which is how they are turned off. */
export type Notification = { readonly rules: readonly NotificationRule[] }

/** Where a configuration says it goes, its element, and the ARNs we know the ends of. */
const KINDS = {
  function: {
    element: 'CloudFunctionConfiguration',
    arnElement: 'CloudFunction',
    arn: /^arn:aws:lambda:[\w-]*:[\w-]*:function:([\w-]{1,140})$/,
  },
  webhook: {
    element: 'TopicConfiguration',
    arnElement: 'Topic',
    arn: /^arn:aws:sns:[\w-]*:[\w-]*:([\w-]{1,140})$/,
  },
} as const
type Kind = keyof typeof KINDS

/**
 * Reads a `NotificationConfiguration`; `newId` names rules that have no Id. Whether the targets exist
 * is the caller's to check. Throws MalformedXML, InvalidArgument.
 */
export function parseNotification(body: Buffer, newId: () => string): Notification {
  const found = fieldsOf(parseXml(body, 'NotificationConfiguration'), {
    TopicConfiguration: 'many',
    CloudFunctionConfiguration: 'many',
    QueueConfiguration: 'many',
    EventBridgeConfiguration: 'optional',
  })
  if (found.QueueConfiguration.length > 0 || found.EventBridgeConfiguration !== undefined)
    throw unknownTarget('queues and event buses do not exist here')
  const rules = [
    ...found.CloudFunctionConfiguration.map((one) => parseRule(one, 'function', newId)),
    ...found.TopicConfiguration.map((one) => parseRule(one, 'webhook', newId)),
  ]
  if (rules.length > RULES_MAX) throw malformed(`There are more than ${RULES_MAX} configurations`)
  if (new Set(rules.map(({ id }) => id)).size < rules.length)
    throw argument('The same ID is used for multiple configurations. Each ID must be unique.')
  for (const [index, rule] of rules.entries())
    if (rules.slice(0, index).some((earlier) => overlaps(earlier, rule)))
      throw argument(
        'Configurations overlap. Configurations on the same bucket cannot share a common event type.',
      )
  return { rules }
}

function parseRule(element: XmlElement, kind: Kind, newId: () => string): NotificationRule {
  const found = fieldsOf(element, {
    Id: 'optional',
    CloudFunction: kind === 'function' ? 'one' : 'optional',
    Topic: kind === 'webhook' ? 'one' : 'optional',
    Event: 'many',
    Filter: 'optional',
  })
  const named = kind === 'function' ? found.CloudFunction : found.Topic
  const arn = optionalText(named)?.trim() ?? ''
  const target = KINDS[kind].arn.exec(arn)?.[1]
  if (target === undefined) throw unknownTarget(arn)
  const id = optionalText(found.Id) ?? ''
  if (id.length > ID_MAX) throw argument(`The Id is longer than ${ID_MAX} characters`)
  if (found.Event.length === 0) throw malformed('A configuration has no Event')
  return {
    id: id === '' ? newId() : id,
    kind,
    target,
    arn,
    events: found.Event.map(parseEvent),
    ...(found.Filter === undefined ? {} : parseFilter(found.Filter)),
  }
}

function parseEvent(element: XmlElement): EventName {
  const event = EVENTS.find((known) => known === textOf(element).trim())
  if (event === undefined)
    throw argument('The event is not supported for notifications', {
      ArgumentName: 'Event',
      ArgumentValue: textOf(element),
    })
  return event
}

function parseFilter(element: XmlElement): { prefix?: string; suffix?: string } {
  const { S3Key } = fieldsOf(element, { S3Key: 'optional' })
  const filter: { prefix?: string; suffix?: string } = {}
  if (S3Key === undefined) return filter
  for (const rule of fieldsOf(S3Key, { FilterRule: 'many' }).FilterRule) {
    const { Name, Value } = fieldsOf(rule, { Name: 'one', Value: 'one' })
    const name = textOf(Name).trim().toLowerCase()
    if (name !== 'prefix' && name !== 'suffix')
      throw argument('filter rule name must be either prefix or suffix')
    if (filter[name] !== undefined)
      throw argument('Cannot specify more than one prefix or suffix rule in a filter.')
    filter[name] = textOf(Value)
  }
  return filter
}

/** AWS refuses two rules that one object could set off. */
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
  rule === 's3:ObjectCreated:*' || rule === event

/** The rules that an event sets off. */
export const rulesFor = (
  notification: Notification | undefined,
  event: Exclude<EventName, 's3:ObjectCreated:*'>,
  key: string,
): NotificationRule[] =>
  (notification?.rules ?? []).filter(
    ({ events, prefix = '', suffix = '' }) =>
      events.some((rule) => isOf(event, rule)) && key.startsWith(prefix) && key.endsWith(suffix),
  )

/** No configuration is an empty document. */
export const printNotification = (notification: Notification | undefined): string =>
  writeXml(
    'NotificationConfiguration',
    (notification?.rules ?? []).map((rule): XmlNode => [
      KINDS[rule.kind].element,
      [
        ['Id', rule.id],
        [KINDS[rule.kind].arnElement, rule.arn],
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
