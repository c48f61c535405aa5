// A pack as the API lists it, and its state in a word.
import type { ReplyOf } from '#console/client/operations.ts'
import { share } from '#console/figures/amounts.ts'
import type { Tone } from '#console/parts/page/state-word.tsx'

export type Pack = ReplyOf<'GET /v1/compliance/packs'>['data'][number]

export const isBeingMade = ({ status }: Pack): boolean =>
  status === 'waiting' || status === 'running'

export function stateOf({ status, progress }: Pack): {
  readonly tone: Tone
  readonly word: string
} {
  if (status === 'ready') return { tone: 'ok', word: 'Ready' }
  if (status === 'failed') return { tone: 'bad', word: 'Failed' }
  if (progress === null) return { tone: 'muted', word: 'Waits' }
  return { tone: 'muted', word: share(BigInt(progress.done), BigInt(progress.total)) }
}

/** Where the browser gets it from; a download, not a page. */
export const contentOf = ({ id }: Pack): string => `/v1/compliance/packs/${id}/content`
