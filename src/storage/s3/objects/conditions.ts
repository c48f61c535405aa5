// Conditional requests: RFC 9110 §13 for reads, and S3's own rules for writes, deletes and copies.
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

/**
 * For PUT, copy and the completion of an upload; `current` is undefined where there is no object or a
 * delete marker. Must be asked again inside the transaction that commits. Throws NoSuchKey (If-Match
 * of nothing), PreconditionFailed.
 */
export function checkWrite(
  { ifMatch, ifNoneMatch }: Pick<Conditions, 'ifMatch' | 'ifNoneMatch'>,
  current: Pick<Current, 'etag'> | undefined,
): void {
  if (ifMatch !== undefined) {
    if (current === undefined) throw storageFault('NoSuchKey')
    if (!includes(ifMatch, current.etag)) throw failed('If-Match')
  }
  if (ifNoneMatch !== undefined && current !== undefined && includes(ifNoneMatch, current.etag))
    throw failed('If-None-Match')
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

/** Deleting what is not there succeeds under any condition. Throws PreconditionFailed. */
export function checkDelete(
  conditions: DeleteConditions,
  current: (Current & { readonly bytes: number }) | undefined,
): void {
  if (current === undefined) return
  const { etag, modifiedMs, bytes } = conditions
  if (etag !== undefined && etag !== '*' && etag !== current.etag) throw failed('If-Match')
  if (modifiedMs !== undefined) {
    const isSame = Math.floor(modifiedMs / 1000) === Math.floor(current.modifiedMs / 1000)
    if (!isSame) throw failed('x-amz-if-match-last-modified-time')
  }
  if (bytes !== undefined && bytes !== current.bytes) throw failed('x-amz-if-match-size')
}
