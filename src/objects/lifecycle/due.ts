// Applies a lifecycle configuration to a version or an upload. Times are rounded up to the next midnight UTC, as at
// AWS, unless the length of a day is set to another value.
import { type Lifecycle, type LifecycleFilter, type LifecycleRule, DAY_MS } from './rules.ts'
import { depthOf } from '#objects/storage-classes.ts'
import type { Tags } from '#objects/types.ts'

/** The facts by which rules select an object. */
export type LifecycleSubject = {
  readonly key: string
  /** In bytes. */
  readonly size: number
  readonly tags: Tags
}

export type LifecycleVersion = LifecycleSubject & {
  readonly modifiedAtMs: number
  readonly isLatest: boolean
  readonly deleteMarker: boolean
  /** When the next newer version was written; undefined for the latest. */
  readonly noncurrentSinceMs: number | undefined
  /** The number of newer noncurrent versions. */
  readonly newerNoncurrent: number
  /** True when the key has no other version. */
  readonly alone: boolean
}

export type At = { readonly nowMs: number; readonly dayMs: number }

/**
 * The action for a version now. `expire`: like a client's delete, so with versioning a marker is written. `remove`:
 * the version is deleted for good.
 */
export function lifecycleAction(
  lifecycle: Lifecycle,
  version: LifecycleVersion,
  at: At,
): 'expire' | 'remove' | undefined {
  const rules = lifecycle.rules.filter((rule) => rule.enabled && chooses(rule.filter, version))
  if (!version.isLatest)
    return rules.some(({ noncurrent }) => isNoncurrentDue(noncurrent, version, at))
      ? 'remove'
      : undefined
  if (version.deleteMarker)
    return version.alone && rules.some((rule) => isMarkerDue(rule, version, at))
      ? 'remove'
      : undefined
  return rules.some((rule) => isDue(expiresAt(rule, version, at.dayMs), at)) ? 'expire' : undefined
}

/** The storage class that a version should have now; undefined when none is further down than its own. */
export function lifecycleClass(
  lifecycle: Lifecycle,
  version: LifecycleVersion & { readonly storageClass: string },
  at: At,
): string | undefined {
  if (version.deleteMarker) return undefined
  const due = lifecycle.rules
    .filter((rule) => rule.enabled && chooses(rule.filter, version))
    .flatMap((rule) => dueClasses(rule, version, at))
  const [lowest] = due.toSorted((a, b) => depthOf(b) - depthOf(a))
  return lowest !== undefined && depthOf(lowest) > depthOf(version.storageClass)
    ? lowest
    : undefined
}

function dueClasses(rule: LifecycleRule, version: LifecycleVersion, at: At): string[] {
  const { transitions = [], noncurrentTransitions = [] } = rule
  const due = version.isLatest
    ? transitions.filter(({ when }) =>
        isDue('days' in when ? after(version.modifiedAtMs, when.days, at.dayMs) : when.dateMs, at),
      )
    : noncurrentTransitions.filter((one) => isNoncurrentDue(one, version, at))
  return due.map(({ storageClass }) => storageClass)
}

/** True when an upload of this age should be aborted now. */
export function isUploadDue(
  lifecycle: Lifecycle,
  upload: { readonly key: string; readonly initiatedAtMs: number },
  at: At,
): boolean {
  return lifecycle.rules.some(
    ({ enabled, filter, abortUploadsDays: days }) =>
      enabled &&
      days !== undefined &&
      upload.key.startsWith(filter.prefix ?? '') &&
      isDue(after(upload.initiatedAtMs, days, at.dayMs), at),
  )
}

/** The rule that will delete a current object first, and when; undefined when none will. */
export function nextExpiry(
  lifecycle: Lifecycle | undefined,
  object: LifecycleSubject & { readonly modifiedAtMs: number },
): { readonly atMs: number; readonly ruleId: string } | undefined {
  let first: { atMs: number; ruleId: string } | undefined
  for (const rule of lifecycle?.rules ?? []) {
    if (!rule.enabled || !chooses(rule.filter, object)) continue
    const atMs = expiresAt(rule, object, DAY_MS)
    if (atMs !== undefined && (first === undefined || atMs < first.atMs))
      first = { atMs, ruleId: rule.id }
  }
  return first
}

function chooses(filter: LifecycleFilter, { key, size, tags }: LifecycleSubject): boolean {
  const { prefix = '', sizeGreaterThan = -1, sizeLessThan = Infinity } = filter
  return (
    key.startsWith(prefix) &&
    size > sizeGreaterThan &&
    size < sizeLessThan &&
    Object.entries(filter.tags).every(
      ([name, value]) => Object.hasOwn(tags, name) && tags[name] === value,
    )
  )
}

function expiresAt(
  { expiration }: LifecycleRule,
  { modifiedAtMs }: { readonly modifiedAtMs: number },
  dayMs: number,
): number | undefined {
  if (expiration === undefined || 'deleteMarker' in expiration) return undefined
  return 'days' in expiration ? after(modifiedAtMs, expiration.days, dayMs) : expiration.dateMs
}

/** A marker without other versions goes when the rule says so, or when an object of its age would expire. */
function isMarkerDue(rule: LifecycleRule, version: LifecycleVersion, at: At): boolean {
  const { expiration } = rule
  if (expiration !== undefined && 'deleteMarker' in expiration) return expiration.deleteMarker
  return isDue(expiresAt(rule, version, at.dayMs), at)
}

function isNoncurrentDue(
  noncurrent: LifecycleRule['noncurrent'],
  version: LifecycleVersion,
  at: At,
): boolean {
  if (noncurrent === undefined || version.noncurrentSinceMs === undefined) return false
  return (
    version.newerNoncurrent >= (noncurrent.keepNewer ?? 0) &&
    isDue(after(version.noncurrentSinceMs, noncurrent.days, at.dayMs), at)
  )
}

const isDue = (atMs: number | undefined, { nowMs }: At): boolean =>
  atMs !== undefined && nowMs >= atMs

function after(fromMs: number, days: number, dayMs: number): number {
  const atMs = fromMs + days * dayMs
  return dayMs === DAY_MS ? Math.ceil(atMs / DAY_MS) * DAY_MS : atMs
}
