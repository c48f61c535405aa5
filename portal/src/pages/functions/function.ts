// A function as the API shows it, and its state in a word.
import type { ReplyOf } from '#console/client/operations.ts'
import { RESOURCE_STATES, type ResourceState } from '#console/parts/resource-state.ts'

export type Deployed = ReplyOf<'GET /v1/functions/:function'>
export type Version = Deployed['versions'][number]

/** A function that answers while its newest version does not. */
export function stateOf({ status, live_version }: Deployed): ResourceState {
  if (status === 'failed' && live_version !== null)
    return { tone: 'warn', word: `Version ${live_version} answers` }
  return RESOURCE_STATES[status]
}

/** True while a version is tried. */
export const isBeingTried = ({ status, version, live_version, versions }: Deployed): boolean =>
  status !== 'suspended' &&
  version !== live_version &&
  versions.find((one) => one.version === version)?.failure === null
