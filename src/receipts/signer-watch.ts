// Watches whether the signers have their shares, also while receipts are sealed: three of five sign without
// a word, and the next loss after that stops the log.
import { sleep, type Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Quorum } from '#signers/client.ts'
import { lostShares, type ShareState, type SignerShare } from '#signers/shares.ts'
import type { SignerStore } from './signer-store.ts'

export type SignerWatch = {
  /** Looks until the signal is aborted; never rejects for anything else. */
  run(signal: AbortSignal): Promise<void>
  /** The last observation; empty before the first. */
  seen(): readonly SignerShare[]
  /** Observes now: the share of each signer, and the shares that are gone for good. */
  look(signal: AbortSignal): Promise<SignerShares>
}

export type SignerShares = {
  readonly shares: readonly SignerShare[]
  readonly lost: readonly SignerShare[]
}

type Deps = {
  readonly signers: Pick<Quorum, 'shares'>
  readonly store: Pick<SignerStore, 'save' | 'mayMakeKey'>
  readonly clock: Clock
  readonly log: Logger
  readonly lookMs?: number
}

const LOOK_MS = 5_000
const SAVE_MS = 60_000

export function createSignerWatch(deps: Deps): SignerWatch {
  const { signers, store, clock, log, lookMs = LOOK_MS } = deps
  let before: readonly SignerShare[] = []
  let settled: readonly SignerShare[] = []
  let savedMs = -Infinity
  let failure: string | undefined

  /** A signer that is started again is away for a moment: what two looks in a row saw is so. */
  async function note(shares: readonly SignerShare[]): Promise<void> {
    const isSame = (a: readonly SignerShare[], b: readonly SignerShare[]) =>
      JSON.stringify(a) === JSON.stringify(b)
    const isSure = isSame(shares, before)
    before = shares
    if (!isSure) return
    const isNew = !isSame(shares, settled)
    const nowMs = clock.monotonicMs()
    if (!isNew && nowMs - savedMs < SAVE_MS) return
    await store.save(shares)
    savedMs = nowMs
    for (const { index, share } of shares) tell(log, index, share, settled[index - 1]?.share)
    settled = shares
  }

  async function lookOnce(signal: AbortSignal): Promise<SignerShares> {
    // The store is asked first: a key that is made between the two queries must not look like a lost share.
    const hasKey = !(await store.mayMakeKey())
    const shares = await signers.shares(signal)
    return { shares, lost: lostShares(shares, hasKey) }
  }

  return {
    seen: () => before,
    async look(signal) {
      const first = await lookOnce(signal)
      if (first.lost.length === 0) return first
      // The first five answers are of different moments: while the first key is made, a signer with a share
      // stands beside signers that had none a moment before. All five have a share when they are asked again.
      const { shares, lost } = await lookOnce(signal)
      const isLost = new Set(first.lost.map(({ index }) => index))
      return { shares, lost: lost.filter(({ index }) => isLost.has(index)) }
    },
    async run(signal) {
      while (!signal.aborted) {
        try {
          await note(await signers.shares(signal))
          failure = undefined
        } catch (error) {
          if (signal.aborted) return
          if (failure !== messageOf(error)) log.warn('Could not keep what signers have', { error })
          failure = messageOf(error)
        }
        await sleep(lookMs, signal).catch(() => undefined)
      }
    },
  }
}

function tell(log: Logger, signer: number, share: ShareState, was: ShareState | undefined): void {
  if (share === was || (was === undefined && share === 'ready')) return
  if (share === 'ready') log.info('Signer has its share', { signer, after: was })
  else if (share === 'silent' || share === 'unfinished')
    log.warn('Signer cannot sign', { signer, share })
  else log.error('Signer cannot sign', { signer, share })
}
