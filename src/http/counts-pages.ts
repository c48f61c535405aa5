// The pages on which processes tell the counts of their requests to the process of the status page.
import type { ModelCounts } from './request-counts.ts'

/** The page of a gateway, with counts since its start. */
export const COUNTS_PAGE = '/counts'
export type CountsPage = {
  readonly counts: readonly Pick<ModelCounts, 'operation' | 'model' | 'statuses' | 'failures'>[]
}

/** The page of the ingress. */
export const ROUTED_COUNTS_PAGE = '/routed-counts'
/** Requests that had a route, and those of them that the service failed, since the start of the process. */
export type RoutedCounts = { readonly requests: number; readonly failures: number }
