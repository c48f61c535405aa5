// Conditional requests: RFC 9110 §13 for reads and for the sources of copies. The store judges the conditions of
// writes and deletes in the transaction that commits (write-conditions.ts).
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'

export type RequestConditions = {
  /** Tags without quotes; '*' stands for any object. */
  readonly ifMatch: readonly string[] | undefined
  readonly ifNoneMatch: readonly string[] | undefined
  readonly ifModifiedSinceMs: number | undefined
  readonly ifUnmodifiedSinceMs: number | undefined
}

/** The current object. The tag has no quotes. */
export type Current = { readonly etag: string; readonly modifiedMs: number }

/**
 * The conditions on an object or on the source of a copy. Invalid dates are ignored (RFC 9110 §13.1.3), except for a
 * copy: InvalidArgument.
 */
export function parsePreconditions(
  headers: IncomingHttpHeaders,
  prefix: '' | 'x-amz-copy-source-' = '',
): RequestConditions {
  const text = (name: string): string | undefined => {
    const value = headers[`${prefix}${name}`]
    return value === undefined ? undefined : String(value)
  }
  const time = (name: string) =>
    prefix === '' ? timeOf(text(name)) : demandedTime(headers, `${prefix}${name}`)
  return {
    ifMatch: tagsOf(text('if-match')),
    ifNoneMatch: tagsOf(text('if-none-match')),
    ifModifiedSinceMs: time('if-modified-since'),
    ifUnmodifiedSinceMs: time('if-unmodified-since'),
  }
}

function tagsOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  return text.split(',').map(bareTag)
}

/** A tag without quotes and without the prefix of weak tags; clients send both forms. */
export const bareTag = (text: string): string => text.trim().replace(/^(?:W\/)?"(.*)"$/, '$1')

function timeOf(text: string | undefined): number | undefined {
  const timeMs = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

const includes = (tags: readonly string[], etag: string) =>
  tags.includes('*') || tags.includes(etag)
// Dates in headers have whole seconds.
const isAfter = (modifiedMs: number, limitMs: number) =>
  Math.floor(modifiedMs / 1000) > Math.floor(limitMs / 1000)

const failed = (Condition: string) => storageFault('PreconditionFailed', undefined, { Condition })

/** For GET and HEAD, in the order of RFC 9110 §13.2.2. Throws PreconditionFailed, NotModified. */
export function checkRead(conditions: RequestConditions, current: Current): void {
  checkStill(conditions, current)
  if (isUnchanged(conditions, current)) throw storageFault('NotModified')
}

/** For the source of a copy: the only answer to a failed condition is PreconditionFailed. */
export function checkCopySource(conditions: RequestConditions, current: Current): void {
  checkStill(conditions, current)
  if (isUnchanged(conditions, current))
    throw failed(conditions.ifNoneMatch ? 'If-None-Match' : 'If-Modified-Since')
}

/**
 * True when a Range header applies (RFC 9110 §13.1.5): If-Range has the current strong tag or the exact Last-Modified.
 */
export function honoursRange(headers: IncomingHttpHeaders, { etag, modifiedMs }: Current): boolean {
  const validator = headers['if-range']
  if (validator === undefined) return true
  const text = String(validator).trim()
  return text === `"${etag}"` || timeOf(text) === Math.floor(modifiedMs / 1000) * 1000
}

function checkStill({ ifMatch, ifUnmodifiedSinceMs }: RequestConditions, current: Current): void {
  if (ifMatch !== undefined) {
    if (!includes(ifMatch, current.etag)) throw failed('If-Match')
  } else if (ifUnmodifiedSinceMs !== undefined && isAfter(current.modifiedMs, ifUnmodifiedSinceMs))
    throw failed('If-Unmodified-Since')
}

function isUnchanged(
  { ifNoneMatch, ifModifiedSinceMs }: RequestConditions,
  current: Current,
): boolean {
  if (ifNoneMatch !== undefined) return includes(ifNoneMatch, current.etag)
  return ifModifiedSinceMs !== undefined && !isAfter(current.modifiedMs, ifModifiedSinceMs)
}

export type DeleteConditions = {
  readonly etag: string | undefined
  readonly modifiedMs: number | undefined
  readonly bytes: number | undefined
}

/** Conditions of DeleteObject, from headers. Throws InvalidArgument for an invalid size or time. */
export function parseDeleteConditions(headers: IncomingHttpHeaders): DeleteConditions {
  const etag = headers['if-match']
  return {
    etag: etag === undefined ? undefined : bareTag(etag),
    modifiedMs: demandedTime(headers, 'x-amz-if-match-last-modified-time'),
    bytes: sizeHeader(headers, 'x-amz-if-match-size'),
  }
}

/** A header that is a number of bytes. Throws InvalidArgument. */
export function sizeHeader(headers: IncomingHttpHeaders, name: string): number | undefined {
  const value = headers[name]
  if (value === undefined) return undefined
  if (/^\d{1,15}$/.test(String(value))) return Number(value)
  throw invalid(name, String(value), 'a number of bytes')
}

function demandedTime(headers: IncomingHttpHeaders, name: string): number | undefined {
  const value = headers[name]
  if (value === undefined) return undefined
  const timeMs = timeOf(String(value))
  if (timeMs === undefined) throw invalid(name, String(value), 'a time')
  return timeMs
}

const invalid = (name: string, value: string, what: string) =>
  storageFault('InvalidArgument', `The header ${name} is not ${what}`, {
    ArgumentName: name,
    ArgumentValue: value.slice(0, 100),
  })
