// The state of a resource of an account, as each of their APIs prints it, in a word.
import { CHANGE_UNDER_WAY } from '#contract/resources/passing-reasons.ts'
import type { Tone } from '#console/parts/page/state-word.tsx'

export type Status =
  | 'pending'
  | 'deploying'
  | 'deployed'
  | 'crash_loop'
  | 'suspended'
  | 'failed'
  | 'deleted'
export type ResourceState = { readonly tone: Tone; readonly word: string }

export const RESOURCE_STATES: Readonly<Record<Status, ResourceState>> = {
  pending: { tone: 'muted', word: 'Being made' },
  deploying: { tone: 'muted', word: 'Being made' },
  deployed: { tone: 'ok', word: 'Deployed' },
  crash_loop: { tone: 'bad', word: 'Crash loop' },
  suspended: { tone: 'warn', word: 'Suspended' },
  failed: { tone: 'bad', word: 'Failed' },
  deleted: { tone: 'muted', word: 'Deleted' },
}

/** Why a resource is not as its account wants; null of a change under way, such as a wake, which is no warning. */
export const reasonToTell = (reason: string | null): string | null =>
  reason === CHANGE_UNDER_WAY ? null : reason

/** True while the state changes by itself. */
export const isResourceChanging = (status: Status): boolean =>
  status === 'pending' || status === 'deploying'
