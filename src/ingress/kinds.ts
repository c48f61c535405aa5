// The kinds of resources that the ingress routes to: their refusals and limits. A product that answers at routes adds a row.
import type { Code } from '#contract/errors.ts'
import {
  FUNCTION_BODY_BYTES_MAX,
  FUNCTION_CONCURRENCY,
} from '#contract/functions/function-limits.ts'
import {
  WORKLOAD_BODY_BYTES_MAX,
  WORKLOAD_CONCURRENCY,
} from '#contract/workloads/workload-limits.ts'

export type KindRules = {
  readonly refusals: {
    /** It does not run now, and soon may. */
    readonly starting: Code
    /** Its answer is not to be passed on. */
    readonly failed: Code
    /** Its process has ended before an answer. */
    readonly crashed: Code
    readonly timeout: Code
    readonly busy: Code
    readonly suspended: Code
    readonly budgetExhausted: Code
  }
  /** Why it does not run, where its own part has failed. */
  readonly whyFailed: string
  /** Requests that run at once for each instance that a resource may have, where its route does not say. */
  readonly concurrency: number
  readonly bodyBytesMax: number
  /** The time of a route is that of the whole answer, not of its begin. */
  readonly isTimedWhole: boolean
  /** Its process runs our runtime: it counts the CPU of requests, says when it has no work left, and knows our headers. */
  readonly hasOurRuntime: boolean
}

export const ROUTED_KINDS = {
  function: {
    refusals: {
      starting: 'function_starting',
      failed: 'function_failed',
      crashed: 'function_crashed',
      timeout: 'function_timeout',
      busy: 'function_busy',
      suspended: 'function_suspended',
      budgetExhausted: 'function_budget_exhausted',
    },
    whyFailed: 'its code cannot be loaded',
    concurrency: FUNCTION_CONCURRENCY,
    bodyBytesMax: FUNCTION_BODY_BYTES_MAX,
    isTimedWhole: true,
    hasOurRuntime: true,
  },
  workload: {
    refusals: {
      starting: 'workload_starting',
      failed: 'workload_failed',
      crashed: 'workload_crashed',
      timeout: 'workload_timeout',
      busy: 'workload_busy',
      suspended: 'workload_suspended',
      budgetExhausted: 'workload_budget_exhausted',
    },
    whyFailed: 'it ends, or does not become ready',
    concurrency: WORKLOAD_CONCURRENCY,
    bodyBytesMax: WORKLOAD_BODY_BYTES_MAX,
    isTimedWhole: false,
    hasOurRuntime: false,
  },
} as const satisfies Readonly<Record<string, KindRules>>

export type RoutedKind = keyof typeof ROUTED_KINDS

export const rulesOfKind = (kind: RoutedKind): KindRules => ROUTED_KINDS[kind]

export const isRoutedKind = (kind: string): kind is RoutedKind => Object.hasOwn(ROUTED_KINDS, kind)
