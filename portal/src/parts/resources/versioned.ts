// A resource with versions, such as a function: one of them answers while another may be tried. Its state in a word.
import { RESOURCE_STATES, type ResourceState, type Status } from './resource-state.ts'

export type Version = {
  readonly version: number
  readonly created_at: string
  /** Why it could not be started. */
  readonly failure: string | null
}

export type Versioned<Kept extends Version = Version> = {
  readonly id: string
  readonly name: string
  readonly status: Status
  readonly reason: string | null
  readonly version: number
  readonly live_version: number | null
  readonly versions: readonly Kept[]
}

/** One that answers while its newest version does not. */
export function stateOf({ status, live_version }: Versioned): ResourceState {
  if (status === 'failed' && live_version !== null)
    return { tone: 'warn', word: `Version ${live_version} answers` }
  return RESOURCE_STATES[status]
}

/** True while a version is tried. */
export const isBeingTried = ({ status, version, live_version, versions }: Versioned): boolean =>
  status !== 'suspended' &&
  version !== live_version &&
  versions.find((one) => one.version === version)?.failure === null

export function stateOfVersion(one: Versioned, { version, failure }: Version): ResourceState {
  if (version === one.live_version) return { tone: 'ok', word: 'Answers' }
  if (failure !== null) return { tone: 'bad', word: 'Could not start' }
  return { tone: 'muted', word: version === one.version && isBeingTried(one) ? 'Is tried' : 'Kept' }
}

/** A version that is wanted already is tried by itself, and another one can answer again if it could be started. */
export const canRollBack = (
  { version, live_version }: Versioned,
  kept: Pick<Version, 'version' | 'failure'>,
): boolean => kept.version !== version && kept.version !== live_version && kept.failure === null
