// The lifecycle rules of a bucket, as the store keeps them.
import type { Tags } from '#objects/types.ts'

export const DAY_MS = 86_400_000

export type Expiration =
  | { readonly days: number }
  | { readonly dateMs: number }
  | { readonly deleteMarker: boolean }

export type Transition = {
  readonly storageClass: string
  readonly when: { readonly days: number } | { readonly dateMs: number }
}
export type NoncurrentTransition = {
  readonly storageClass: string
  readonly days: number
  readonly keepNewer?: number
}

export type LifecycleFilter = {
  /** Written as a bare `Prefix`, the older form without filters; clients compare what they read back. */
  readonly bare: boolean
  readonly prefix?: string
  readonly tags: Tags
  /** In bytes. */
  readonly sizeGreaterThan?: number
  readonly sizeLessThan?: number
}

export type LifecycleRule = {
  readonly id: string
  readonly enabled: boolean
  readonly filter: LifecycleFilter
  readonly expiration?: Expiration
  readonly noncurrent?: { readonly days: number; readonly keepNewer?: number }
  readonly abortUploadsDays?: number
  readonly transitions?: readonly Transition[]
  readonly noncurrentTransitions?: readonly NoncurrentTransition[]
}
export type Lifecycle = { readonly rules: readonly LifecycleRule[] }
