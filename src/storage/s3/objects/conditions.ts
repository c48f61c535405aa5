// Conditional requests: RFC 9110 §13 for reads and the sources of copies. Those of writes and deletes are
// judged by the store, in the transaction that commits (write-conditions.ts).
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#storage/errors.ts'

export type Conditions = {
  /** Tags without quotes; '*' stands for any object. */
  readonly ifMatch: readonly string[] | undefined
  readonly ifNoneMatch: readonly string[] | undefined
  readonly ifModifiedSinceMs: number | undefined
  readonly ifUnmodifiedSinceMs: number | undefined
}

/** What is there now. The tag has no quotes. */
export type Current = { readonly etag: string; readonly modifiedMs: number }

/** The conditions on an object, or on the source of a copy. Dates that are none are ignored. */
export function parseConditions(
  headers: IncomingHttpHeaders,
  prefix: '' | 'x-amz-copy-source-' = '',
): Conditions {
  const text = (name: string): string | undefined => {
    const value = headers[`${prefix}${name}`]
    return value === undefined ? undefined : String(value)
  }
  return {
    ifMatch: tagsOf(text('if-match')),
    ifNoneMatch: tagsOf(text('if-none-match')),
    ifModifiedSinceMs: timeOf(text('if-modified-since')),
    ifUnmodifiedSinceMs: timeOf(text('if-unmodified-since')),
  }
}

function tagsOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  return text.split(',').map(bareTag)
}

/** A tag without quotes and without the mark of weak ones; clients send both forms. */
export const bareTag = (text: string): string => text.trim().replace(/^(?:W\/)?"(.*)"$/, '$1')

function timeOf(text: string | undefined): number | undefined {
  const timeMs = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

const includes = (tags: readonly string[], etag: string) =>
  tags.includes('*') || tags.includes(etag)
// Headers count in seconds.
const isAfter = (modifiedMs: number, limitMs: number) =>
  Math.floor(modifiedMs / 1000) > Math.floor(limitMs / 1000)

const failed = (Condition: string) => storageFault('PreconditionFailed', undefined, { Condition })

/** For GET and HEAD, in the order of RFC 9110 §13.2.2. Throws PreconditionFailed, NotModified. */
export function checkRead(conditions: Conditions, current: Current): void {
  checkStill(conditions, current)
  if (isUnchanged(conditions, current)) throw storageFault('NotModified')
}

/** For the source of a copy, where nothing but PreconditionFailed is an answer. */
export function checkCopySource(conditions: Conditions, current: Current): void {
  checkStill(conditions, current)
  if (isUnchanged(conditions, current))
    throw failed(conditions.ifNoneMatch ? 'If-None-Match' : 'If-Modified-Since')
}

function checkStill({ ifMatch, ifUnmodifiedSinceMs }: Conditions, current: Current): void {
  if (ifMatch !== undefined) {
    if (!includes(ifMatch, current.etag)) throw failed('If-Match')
  } else if (ifUnmodifiedSinceMs !== undefined && isAfter(current.modifiedMs, ifUnmodifiedSinceMs))
    throw failed('If-Unmodified-Since')
}

function isUnchanged({ ifNoneMatch, ifModifiedSinceMs }: Conditions, current: Current): boolean {
  if (ifNoneMatch !== undefined) return includes(ifNoneMatch, current.etag)
  return ifModifiedSinceMs !== undefined && !isAfter(current.modifiedMs, ifModifiedSinceMs)
}

export type DeleteConditions = {
  readonly etag: string | undefined
  readonly modifiedMs: number | undefined
  readonly bytes: number | undefined
}

/** Conditions of DeleteObject; DeleteObjects has them in its body. */
export function parseDeleteConditions(headers: IncomingHttpHeaders): DeleteConditions {
  const bytes = headers['x-amz-if-match-size']
  const time = headers['x-amz-if-match-last-modified-time']
  const etag = headers['if-match']
  return {
    etag: etag === undefined ? undefined : bareTag(etag),
    modifiedMs: timeOf(time === undefined ? undefined : String(time)),
    bytes: bytes === undefined ? undefined : Number(bytes),
  }
}
