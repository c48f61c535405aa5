// The transitions of a lifecycle rule: parsing, checking, printing (AWS, "Transitioning objects using Amazon S3
// Lifecycle").
import type { NoncurrentTransition, Transition, Expiration } from '#objects/lifecycle/rules.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlFields, integerOf, xmlText } from '#s3/xml/fields.ts'
import { malformedXml, type XmlElement } from '#s3/xml/read.ts'
import { isoTime, type XmlNode } from '#s3/xml/write.ts'
import { keepNewerOf, midnight } from './lifecycle-values.ts'
import {
  depthOf,
  invalidStorageClass,
  isArchive,
  isTransitionTarget,
} from '#objects/storage-classes.ts'

/** The actions of a rule whose times must be in order. */
type Actions = {
  readonly expiration?: Expiration
  readonly noncurrent?: { readonly days: number }
  readonly transitions?: readonly Transition[]
  readonly noncurrentTransitions?: readonly NoncurrentTransition[]
}

/** AWS: the least days before, and between, the classes of infrequent access. */
const INFREQUENT_DAYS_MIN = 30
const INFREQUENT: readonly string[] = ['STANDARD_IA', 'ONEZONE_IA']

/** Throws MalformedXML, InvalidArgument, InvalidStorageClass (an archive class). */
export function parseTransition(element: XmlElement): Transition {
  const { Days, Date, StorageClass } = xmlFields(element, {
    Days: 'optional',
    Date: 'optional',
    StorageClass: 'one',
  })
  if ((Days === undefined) === (Date === undefined))
    throw malformedXml('A Transition has not one of Days and Date')
  const when =
    Date === undefined ? { days: daysOf(Days as XmlElement) } : { dateMs: midnight(xmlText(Date)) }
  return { when, storageClass: targetOf(StorageClass) }
}

/** Throws what parseTransition does. */
export function parseNoncurrentTransition(element: XmlElement): NoncurrentTransition {
  const { NoncurrentDays, NewerNoncurrentVersions, StorageClass } = xmlFields(element, {
    NoncurrentDays: 'one',
    NewerNoncurrentVersions: 'optional',
    StorageClass: 'one',
  })
  return {
    days: daysOf(NoncurrentDays),
    ...keepNewerOf(NewerNoncurrentVersions),
    storageClass: targetOf(StorageClass),
  }
}

/** 0 days are allowed. */
function daysOf(element: XmlElement): number {
  const days = integerOf(element, -Number.MAX_SAFE_INTEGER)
  if (days < 0) throw argument(`'${element.name}' must be a nonnegative integer`)
  return days
}

function targetOf(element: XmlElement): string {
  const name = xmlText(element)
  if (isArchive(name)) throw invalidStorageClass(name)
  if (!isTransitionTarget(name)) throw malformedXml('A StorageClass is none that objects move to')
  return name
}

/** Throws InvalidRequest, InvalidArgument. */
export function checkTransitions(actions: Actions): void {
  const { expiration, noncurrent, transitions = [], noncurrentTransitions = [] } = actions
  const dated = transitions.filter(({ when }) => 'dateMs' in when).length
  const expires = expiration === undefined || 'deleteMarker' in expiration ? undefined : expiration
  const areMixed = dated > 0 && dated < transitions.length
  const isOther = expires !== undefined && 'dateMs' in expires !== dated > 0
  if (areMixed || (transitions.length > 0 && isOther))
    throw invalid("Found mixed 'Date' and 'Days' based Expiration and Transition actions in a rule")
  checkWaterfall('Transition', transitions.map(toStep))
  checkWaterfall(
    'NoncurrentVersionTransition',
    noncurrentTransitions.map(({ days, storageClass }) => ({
      days,
      atMs: undefined,
      storageClass,
    })),
  )
  for (const { when } of transitions)
    if (expires !== undefined && timeOf(expires) <= timeOf(when))
      throw argument(
        "'Days' or 'Date' in the Expiration action must be greater than in the Transition action",
      )
  for (const { days } of noncurrentTransitions)
    if (noncurrent !== undefined && noncurrent.days <= days)
      throw argument(
        "'NoncurrentDays' in the NoncurrentVersionExpiration action must be greater than in the NoncurrentVersionTransition action",
      )
}

type Step = {
  readonly storageClass: string
  readonly days: number | undefined
  readonly atMs: number | undefined
}

const toStep = ({ when, storageClass }: Transition): Step => ({
  storageClass,
  days: 'days' in when ? when.days : undefined,
  atMs: 'dateMs' in when ? when.dateMs : undefined,
})

const timeOf = (when: { readonly days: number } | { readonly dateMs: number }): number =>
  'days' in when ? when.days : when.dateMs

/** Checks that each class occurs once, and later than the class before. */
function checkWaterfall(action: string, steps: readonly Step[]): void {
  const ordered = steps.toSorted((a, b) => depthOf(a.storageClass) - depthOf(b.storageClass))
  let before: Step | undefined
  for (const step of ordered) {
    const { storageClass, days, atMs } = step
    if (storageClass === before?.storageClass)
      throw invalid(`'StorageClass' must be different for '${action}' actions in same 'Rule'`)
    if (INFREQUENT.includes(storageClass) && (days ?? Infinity) < INFREQUENT_DAYS_MIN)
      throw argument(
        `'Days' in the '${action}' action must be greater than or equal to ${INFREQUENT_DAYS_MIN} for storageClass '${storageClass}'`,
      )
    if (before !== undefined) {
      const rest = INFREQUENT.includes(before.storageClass) ? INFREQUENT_DAYS_MIN : 1
      const isLater =
        days === undefined ? (atMs ?? 0) > (before.atMs ?? 0) : days >= (before.days ?? 0) + rest
      if (!isLater)
        throw argument(
          `The '${action}' action for StorageClass '${storageClass}' must be later than that for '${before.storageClass}', by ${rest} days at least`,
        )
    }
    before = step
  }
}

export const transitionNodes = ({
  transitions = [],
  noncurrentTransitions = [],
}: Actions): XmlNode[] => [
  ...transitions.map(({ when, storageClass }): XmlNode => [
    'Transition',
    [
      'days' in when ? ['Days', when.days] : ['Date', isoTime(when.dateMs)],
      ['StorageClass', storageClass],
    ],
  ]),
  ...noncurrentTransitions.map(({ days, keepNewer, storageClass }): XmlNode => [
    'NoncurrentVersionTransition',
    [
      ['NoncurrentDays', days],
      ['NewerNoncurrentVersions', keepNewer],
      ['StorageClass', storageClass],
    ],
  ]),
]

const argument = (message: string) => storageFault('InvalidArgument', message)
const invalid = (message: string) => storageFault('InvalidRequest', message)
