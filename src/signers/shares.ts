// The signers that have a share of the key, by their own report, for the operator.
import { SIGNERS, type GroupKey, type Status } from './wire.ts'

/**
 * `unfinished`: of a key that is being made. `none`: it answers and has no share. `other key`: of another
 * key than most. `false share`: it was caught with one. `silent`: it does not answer.
 */
export type ShareState = 'ready' | 'unfinished' | 'none' | 'other key' | 'false share' | 'silent'
export type SignerShare = { readonly index: number; readonly share: ShareState }

/** The share of each signer, by number. A signer without a status does not answer. */
export function sharesOf(statuses: ReadonlyMap<number, Status>): SignerShare[] {
  const group = commonest([...statuses.values()].flatMap(({ active }) => active ?? []))
  return Array.from({ length: SIGNERS }, (_, nth) => {
    const status = statuses.get(nth + 1)
    return { index: nth + 1, share: status === undefined ? 'silent' : shareOf(status, group) }
  })
}

function shareOf({ active, pending }: Status, group: GroupKey | undefined): ShareState {
  if (active !== null) return isSameKey(active, group) ? 'ready' : 'other key'
  if (pending === null) return 'none'
  return group === undefined || isSameKey(pending, group) ? 'unfinished' : 'none'
}

/** The key that most have. */
function commonest(groups: readonly GroupKey[]): GroupKey | undefined {
  const count = (group: GroupKey) => groups.filter((other) => isSameKey(other, group)).length
  return groups.toSorted((a, b) => count(b) - count(a))[0]
}

export const isSameKey = (
  a: GroupKey | null | undefined,
  b: GroupKey | null | undefined,
): boolean => a !== undefined && a !== null && JSON.stringify(a) === JSON.stringify(b)

/** The signers whose share is gone for good. `hasKey`: the log has a key already. */
export const lostShares = (shares: readonly SignerShare[], hasKey: boolean): SignerShare[] =>
  hasKey || shares.some(({ share }) => share === 'ready')
    ? shares.filter(({ share }) => share === 'none' || share === 'other key')
    : []

/** In words: what is not as it should be; empty when all are ready. */
export const sharesText = (shares: readonly SignerShare[]): string =>
  shares
    .filter(({ share }) => share !== 'ready')
    .map(({ index, share }) => `signer ${index} ${WORDS[share]}`)
    .join(', ')

const WORDS: Record<ShareState, string> = {
  ready: 'is ready',
  unfinished: 'has a share that is not finished',
  none: 'has no share',
  'other key': 'has a share of another key',
  'false share': 'gave a false share',
  silent: 'does not answer',
}
