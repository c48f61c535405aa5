// The lifecycle configuration of a bucket: parsing, checking, printing (AWS, "Lifecycle configuration elements").
// objects/lifecycle/due.ts applies it to objects.
import type {
  Lifecycle,
  LifecycleFilter,
  LifecycleRule,
  Expiration,
} from '#objects/lifecycle/rules.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlBoolean, xmlFields, integerOf, optionalText, xmlText, wordOf } from '#s3/xml/fields.ts'
import { KEY_BYTES_MAX } from '#s3/target.ts'
import { malformedXml, parseXml, type XmlElement } from '#s3/xml/read.ts'
import { isoTime, writeXml, type XmlNode } from '#s3/xml/write.ts'
import { keepNewerOf, midnight } from './lifecycle-values.ts'
import { parseTag, tagNodes } from '#s3/tagging/tagging.ts'
import {
  checkTransitions,
  parseNoncurrentTransition,
  parseTransition,
  transitionNodes,
} from './transitions.ts'

const RULES_MAX = 1000
const ID_MAX = 255

/**
 * Reads a `LifecycleConfiguration`; `newId` names rules that have no ID. Throws MalformedXML,
 * InvalidArgument, InvalidRequest, InvalidStorageClass.
 */
export function parseLifecycle(body: Buffer, newId: () => string): Lifecycle {
  const { Rule } = xmlFields(parseXml(body, 'LifecycleConfiguration'), { Rule: 'many' })
  const rules = Rule.map((rule) => parseRule(rule, newId))
  if (rules.length === 0 || rules.length > RULES_MAX)
    throw malformedXml(`There are not 1 to ${RULES_MAX} rules`)
  if (new Set(rules.map(({ id }) => id)).size < rules.length)
    throw argument('Rule ID must be unique. Found same ID for more than one rule')
  return { rules }
}

function parseRule(element: XmlElement, newId: () => string): LifecycleRule {
  const found = xmlFields(element, {
    ID: 'optional',
    Status: 'one',
    Prefix: 'optional',
    Filter: 'optional',
    Expiration: 'optional',
    NoncurrentVersionExpiration: 'optional',
    AbortIncompleteMultipartUpload: 'optional',
    Transition: 'many',
    NoncurrentVersionTransition: 'many',
  })
  const id = optionalText(found.ID) ?? ''
  if (id.length > ID_MAX) throw argument(`ID length should not exceed allowed limit of ${ID_MAX}`)
  const { Expiration: expiration, NoncurrentVersionExpiration: noncurrent } = found
  const abort = found.AbortIncompleteMultipartUpload
  const rule: LifecycleRule = {
    id: id === '' ? newId() : id,
    enabled: wordOf(found.Status, ['Enabled', 'Disabled']) === 'Enabled',
    filter: parseFilter(found.Prefix, found.Filter),
    ...(expiration === undefined ? {} : { expiration: parseExpiration(expiration) }),
    ...(noncurrent === undefined ? {} : { noncurrent: parseNoncurrent(noncurrent) }),
    ...(abort === undefined
      ? {}
      : {
          abortUploadsDays: days(
            xmlFields(abort, { DaysAfterInitiation: 'one' }).DaysAfterInitiation,
          ),
        }),
    ...(found.Transition.length > 0 && { transitions: found.Transition.map(parseTransition) }),
    ...(found.NoncurrentVersionTransition.length > 0 && {
      noncurrentTransitions: found.NoncurrentVersionTransition.map(parseNoncurrentTransition),
    }),
  }
  checkRule(rule)
  checkTransitions(rule)
  return rule
}

function checkRule(rule: LifecycleRule): void {
  const { id: _id, enabled: _enabled, filter, ...actions } = rule
  const { expiration, abortUploadsDays } = actions
  if (Object.keys(actions).length === 0)
    throw invalid('At least one action needs to be specified in a rule')
  const narrowed =
    Object.keys(filter.tags).length > 0 ||
    filter.sizeGreaterThan !== undefined ||
    filter.sizeLessThan !== undefined
  if (abortUploadsDays !== undefined && narrowed)
    throw invalid('AbortIncompleteMultipartUpload cannot be specified with Tags or sizes')
  if (expiration !== undefined && 'deleteMarker' in expiration && narrowed)
    throw invalid('ExpiredObjectDeleteMarker cannot be specified with Tags or sizes')
}

/** A prefix longer than a key matches nothing. */
function prefixOf(element: XmlElement): string {
  const prefix = xmlText(element)
  if (Buffer.byteLength(prefix) > KEY_BYTES_MAX)
    throw invalid(`The maximum size of a prefix is ${KEY_BYTES_MAX}.`)
  return prefix
}

const FILTER = {
  Prefix: 'optional',
  Tag: 'many',
  ObjectSizeGreaterThan: 'optional',
  ObjectSizeLessThan: 'optional',
} as const

function parseFilter(
  bare: XmlElement | undefined,
  filter: XmlElement | undefined,
): LifecycleFilter {
  if (filter === undefined) {
    if (bare === undefined) throw malformedXml('A rule has neither Filter nor Prefix')
    return { bare: true, prefix: prefixOf(bare), tags: {} }
  }
  if (bare !== undefined) throw malformedXml('A rule has Filter and Prefix')
  // AWS requires `And` around two or more conditions; Ceph's suite also sends them side by side, with the same
  // meaning.
  const { And, ...beside } = xmlFields(filter, { ...FILTER, And: 'optional' })
  const within = And && xmlFields(And, FILTER)
  const prefix = within?.Prefix ?? beside.Prefix
  const greater = within?.ObjectSizeGreaterThan ?? beside.ObjectSizeGreaterThan
  const less = within?.ObjectSizeLessThan ?? beside.ObjectSizeLessThan
  const tags = [...beside.Tag, ...(within?.Tag ?? [])].map(parseTag)
  if (new Set(tags.map(([name]) => name)).size < tags.length)
    throw invalid('Duplicate Tag Keys are not allowed.')
  return {
    bare: false,
    ...(prefix === undefined ? {} : { prefix: prefixOf(prefix) }),
    tags: Object.fromEntries(tags),
    ...(greater === undefined ? {} : { sizeGreaterThan: integerOf(greater) }),
    ...(less === undefined ? {} : { sizeLessThan: integerOf(less) }),
  }
}

function parseExpiration(element: XmlElement): Expiration {
  const { Days, Date, ExpiredObjectDeleteMarker } = xmlFields(element, {
    Days: 'optional',
    Date: 'optional',
    ExpiredObjectDeleteMarker: 'optional',
  })
  if (element.children.length !== 1) throw malformedXml('An Expiration has not one child')
  if (Days !== undefined) return { days: days(Days) }
  if (Date !== undefined) return { dateMs: midnight(xmlText(Date)) }
  return {
    deleteMarker: ExpiredObjectDeleteMarker !== undefined && xmlBoolean(ExpiredObjectDeleteMarker),
  }
}

function parseNoncurrent(element: XmlElement): NonNullable<LifecycleRule['noncurrent']> {
  const { NoncurrentDays, NewerNoncurrentVersions } = xmlFields(element, {
    NoncurrentDays: 'one',
    NewerNoncurrentVersions: 'optional',
  })
  return { days: days(NoncurrentDays), ...keepNewerOf(NewerNoncurrentVersions) }
}

function days(element: XmlElement): number {
  const found = integerOf(element, -Number.MAX_SAFE_INTEGER)
  if (found < 1) throw argument(`'${element.name}' must be a positive integer`)
  return found
}

const argument = (message: string) => storageFault('InvalidArgument', message)
const invalid = (message: string) => storageFault('InvalidRequest', message)

export const printLifecycle = (lifecycle: Lifecycle): string =>
  writeXml(
    'LifecycleConfiguration',
    lifecycle.rules.map((rule): XmlNode => ['Rule', ruleNodes(rule)]),
  )

const ruleNodes = (rule: LifecycleRule): XmlNode[] => {
  const { id, enabled, filter, ...actions } = rule
  return [
    ['ID', id],
    filter.bare ? ['Prefix', filter.prefix] : ['Filter', filterNodes(filter)],
    ['Status', enabled ? 'Enabled' : 'Disabled'],
    ['Expiration', actions.expiration && [expirationNode(actions.expiration)]],
    [
      'NoncurrentVersionExpiration',
      actions.noncurrent && [
        ['NoncurrentDays', actions.noncurrent.days],
        ['NewerNoncurrentVersions', actions.noncurrent.keepNewer],
      ],
    ],
    ...transitionNodes(rule),
    [
      'AbortIncompleteMultipartUpload',
      actions.abortUploadsDays === undefined
        ? undefined
        : [['DaysAfterInitiation', actions.abortUploadsDays]],
    ],
  ]
}

function filterNodes(filter: LifecycleFilter): XmlNode[] {
  const all: XmlNode[] = [
    ['Prefix', filter.prefix],
    ...tagNodes(filter.tags),
    ['ObjectSizeGreaterThan', filter.sizeGreaterThan],
    ['ObjectSizeLessThan', filter.sizeLessThan],
  ]
  const nodes = all.filter(([, content]) => content !== undefined)
  return nodes.length > 1 ? [['And', nodes]] : nodes
}

function expirationNode(expiration: Expiration): XmlNode {
  if ('days' in expiration) return ['Days', expiration.days]
  if ('dateMs' in expiration) return ['Date', isoTime(expiration.dateMs)]
  return ['ExpiredObjectDeleteMarker', expiration.deleteMarker]
}
