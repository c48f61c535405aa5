// A deployment as the API shows it, its state and its steps in words. Pure.
import type { ReplyOf } from '#console/client/operations.ts'
import { counted } from '#console/figures/time.ts'
import { resourcePage } from '#console/parts/resources/resource-page.ts'
import type { ResourceState } from '#console/parts/resources/resource-state.ts'

export type Deployment = ReplyOf<'GET /v1/deployments/:deployment'>
export type Step = Deployment['steps'][number]
/** A deployment of the list, which has no steps. */
export type Listed = ReplyOf<'GET /v1/deployments'>['data'][number]

export const STATES: Readonly<Record<Deployment['status'], ResourceState>> = {
  running: { tone: 'muted', word: 'Running' },
  done: { tone: 'ok', word: 'Done' },
  failed: { tone: 'bad', word: 'Failed' },
  cancelled: { tone: 'warn', word: 'Cancelled' },
}

export const changesWords = ({ changes }: Pick<Listed, 'changes'>): string =>
  changes === 0 ? 'nothing to change' : counted(changes, 'change')

const STEP_STATES: Readonly<Record<Step['status'], ResourceState>> = {
  waiting: { tone: 'muted', word: 'Waits' },
  running: { tone: 'muted', word: 'Running' },
  done: { tone: 'ok', word: 'Done' },
  failed: { tone: 'bad', word: 'Failed' },
  skipped: { tone: 'warn', word: 'Not done' },
}

/** A step that changes nothing has no state of its own. */
export const stateOfStep = ({ action, status }: Pick<Step, 'action' | 'status'>): ResourceState =>
  isChanging({ action }) ? STEP_STATES[status] : { tone: 'muted', word: 'As it was' }

export const isChanging = ({ action }: Pick<Step, 'action'>): boolean =>
  action !== 'none' && action !== 'keep'

export const ACTIONS: Readonly<Record<Step['action'], string>> = {
  none: 'nothing',
  adopt: 'take over',
  create: 'make',
  update: 'change',
  delete: 'delete',
  keep: 'keep',
}

type Change = Step['changes'][number]

/** `memory 128MB → 256MB`; what is made has nothing before. */
export function changeWords({ action }: Pick<Step, 'action'>, change: Change): string {
  const { attribute, before, after, hidden, pending } = change
  if (pending) return `${attribute} is known later`
  if (hidden) return `${attribute} (hidden)`
  if (action === 'create') return `${attribute} ${after ?? 'none'}`
  return `${attribute} ${before ?? 'none'} → ${after ?? 'none'}`
}

/** An empty text says nothing. */
export const toldChanges = ({ action, changes }: Step): readonly Change[] =>
  changes.filter(({ after, hidden, pending }) => action !== 'create' || hidden || pending || after)

/** The page of what a step has made; none of what is gone, and of what has no page. */
export const pageOf = ({ kind, name, action, resource }: Step): string | undefined =>
  action === 'delete' || resource === null ? undefined : resourcePage({ kind, name, id: resource })
