// Object lock: the default of a bucket, retention and legal hold of an object, as documents and as headers (AWS,
// "Locking objects with Object Lock"). The store protects locked versions from deletion; changes of a retention are
// checked here.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Retention } from '#objects/types.ts'
import { xmlFields, integerOf, xmlText, wordOf } from '#s3/xml/fields.ts'
import { malformedXml, parseXml, type XmlElement } from '#s3/xml/read.ts'
import { isoTime, writeXml, type XmlNode } from '#s3/xml/write.ts'

const MODES = ['GOVERNANCE', 'COMPLIANCE'] as const
type Mode = (typeof MODES)[number]
const DAYS_MAX = 36_500
const YEARS_MAX = 100
const DAY_MS = 86_400_000

/** The default retention of new objects. */
export type DefaultRetention = { readonly mode: Mode } & (
  | { readonly days: number }
  | { readonly years: number }
)
export type ObjectLock = { readonly defaultRetention?: DefaultRetention }

/** Reads an `ObjectLockConfiguration`. Throws MalformedXML, InvalidRetentionPeriod. */
export function parseObjectLock(body: Buffer): ObjectLock {
  const { ObjectLockEnabled, Rule } = xmlFields(parseXml(body, 'ObjectLockConfiguration'), {
    ObjectLockEnabled: 'one',
    Rule: 'optional',
  })
  wordOf(ObjectLockEnabled, ['Enabled'])
  if (Rule === undefined) return {}
  const { DefaultRetention } = xmlFields(Rule, { DefaultRetention: 'one' })
  return { defaultRetention: parseDefault(DefaultRetention) }
}

function parseDefault(element: XmlElement): DefaultRetention {
  const { Mode, Days, Years } = xmlFields(element, {
    Mode: 'one',
    Days: 'optional',
    Years: 'optional',
  })
  const mode = wordOf(Mode, MODES)
  if (Days !== undefined && Years === undefined) return { mode, days: period(Days, DAYS_MAX) }
  if (Years !== undefined && Days === undefined) return { mode, years: period(Years, YEARS_MAX) }
  throw malformedXml('A default retention has not either Days or Years')
}

function period(element: XmlElement, max: number): number {
  const found = integerOf(element, -Number.MAX_SAFE_INTEGER)
  if (found < 1 || found > max) throw storageFault('InvalidRetentionPeriod')
  return found
}

export function printObjectLock({ defaultRetention: kept }: ObjectLock): string {
  const period: XmlNode[] =
    kept === undefined
      ? []
      : [['Mode', kept.mode], 'days' in kept ? ['Days', kept.days] : ['Years', kept.years]]
  return writeXml('ObjectLockConfiguration', [
    ['ObjectLockEnabled', 'Enabled'],
    ['Rule', kept === undefined ? undefined : [['DefaultRetention', period]]],
  ])
}

/** Reads a `Retention`; an empty one lifts it (null). Throws MalformedXML, InvalidArgument. */
export function parseRetention(body: Buffer, nowMs: number): Retention | null {
  const { Mode, RetainUntilDate } = xmlFields(parseXml(body, 'Retention'), {
    Mode: 'optional',
    RetainUntilDate: 'optional',
  })
  if (Mode === undefined && RetainUntilDate === undefined) return null
  if (Mode === undefined || RetainUntilDate === undefined)
    throw malformedXml('A retention has not both Mode and RetainUntilDate')
  return { mode: wordOf(Mode, MODES), untilMs: future(xmlText(RetainUntilDate).trim(), nowMs) }
}

export const printRetention = ({ mode, untilMs }: Retention): string =>
  writeXml('Retention', [
    ['Mode', mode],
    ['RetainUntilDate', isoTime(untilMs)],
  ])

/** Reads a `LegalHold`. Throws MalformedXML. */
export function parseLegalHold(body: Buffer): boolean {
  const { Status } = xmlFields(parseXml(body, 'LegalHold'), { Status: 'one' })
  return wordOf(Status, ['ON', 'OFF']) === 'ON'
}

export const printLegalHold = (isOn: boolean): string =>
  writeXml('LegalHold', [['Status', isOn ? 'ON' : 'OFF']])

export type LockHeaders = { readonly retention?: Retention; readonly legalHold?: boolean }

/** The lock in the headers of a write. Throws InvalidArgument. */
export function parseLockHeaders(headers: IncomingHttpHeaders, nowMs: number): LockHeaders {
  const wantedMode = headers['x-amz-object-lock-mode']
  const date = headers['x-amz-object-lock-retain-until-date']
  const hold = headers['x-amz-object-lock-legal-hold']
  if (hold !== undefined && hold !== 'ON' && hold !== 'OFF')
    throw storageFault('InvalidArgument', 'Legal Hold must be either of ON or OFF')
  const legalHold = hold === undefined ? {} : { legalHold: hold === 'ON' }
  if (wantedMode === undefined && date === undefined) return legalHold
  if (typeof wantedMode !== 'string' || typeof date !== 'string')
    throw storageFault(
      'InvalidArgument',
      'x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied',
    )
  const mode = MODES.find((known) => known === wantedMode)
  if (mode === undefined) throw storageFault('InvalidArgument', 'Unknown wormMode directive')
  return { ...legalHold, retention: { mode, untilMs: future(date, nowMs) } }
}

// The date must begin the text: conditions of policies read the same text.
function future(text: string, nowMs: number): number {
  const untilMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(untilMs))
    throw storageFault(
      'InvalidArgument',
      'The retain until date must be provided in ISO 8601 format',
    )
  if (untilMs <= nowMs)
    throw storageFault('InvalidArgument', 'The retain until date must be in the future!')
  return untilMs
}

/** The retention of a new object without its own; null without a default. */
export function defaultRetentionOf(lock: ObjectLock | undefined, nowMs: number): Retention | null {
  const kept = lock?.defaultRetention
  if (kept === undefined) return null
  if ('days' in kept) return { mode: kept.mode, untilMs: nowMs + kept.days * DAY_MS }
  const until = new Date(nowMs)
  until.setUTCFullYear(until.getUTCFullYear() + kept.years)
  return { mode: kept.mode, untilMs: until.getTime() }
}

/** The headers of a read. */
export function lockHeaders(
  retention: Retention | null,
  legalHold: boolean | undefined,
): Record<string, string> {
  return {
    ...(retention === null
      ? {}
      : {
          'x-amz-object-lock-mode': retention.mode,
          'x-amz-object-lock-retain-until-date': isoTime(retention.untilMs),
        }),
    ...(legalHold === undefined
      ? {}
      : { 'x-amz-object-lock-legal-hold': legalHold ? 'ON' : 'OFF' }),
  }
}

/** The lock of a document as headers of a write; absent fields are undefined. */
export const lockAsHeaders = (
  retention: Retention | null,
  legalHold?: boolean,
): IncomingHttpHeaders => ({
  'x-amz-object-lock-mode': undefined,
  'x-amz-object-lock-retain-until-date': undefined,
  'x-amz-object-lock-legal-hold': undefined,
  ...lockHeaders(retention, legalHold),
})

/**
 * Throws AccessDenied for a weaker retention while one is in force: COMPLIANCE for every caller, GOVERNANCE for
 * callers that do not bypass it.
 */
export function checkRetentionChange(
  current: Retention | null,
  wanted: Retention | null,
  { nowMs, bypasses }: { readonly nowMs: number; readonly bypasses: boolean },
): void {
  if (current === null || current.untilMs <= nowMs) return
  if (current.mode === 'GOVERNANCE' && bypasses) return
  if (wanted?.mode !== current.mode || wanted.untilMs < current.untilMs)
    throw storageFault('AccessDenied')
}
