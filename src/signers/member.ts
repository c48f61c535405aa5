// The coordinator's view of one signer: the nonces it gave ahead, how far it has followed the log, and
// whether it lied. All of this can be forgotten at any time; the signer's own state decides.
import { ErgonError } from '#base/errors.ts'
import { readPoint } from './frost-group.ts'
import type { SignerLimits, Transport } from './transport.ts'
import {
  refusal,
  type LeafBatch,
  type CommitReply,
  type LeavesReply,
  type Nonce,
  type SignReply,
  type SignRequest,
  type Status,
} from './wire.ts'

/** A tree size of a log, and where the batch of leaves comes from that begins at a place before it. */
export type LeafGoal = {
  readonly origin: string
  readonly size: number
  readonly batch: (from: number) => Promise<LeafBatch>
  /** A signed note of this log or of the log before it, where there is one: for a signer that missed a whole shard. */
  readonly voucher?: string | undefined
}

export type Member = {
  readonly index: number
  status(limits: SignerLimits): Promise<Status>
  /** Its status, for monitoring beside the signing: the known state of its leaves does not change. */
  look(limits: SignerLimits): Promise<Status>
  /** The signer's last answer was that it has no share: it needs no leaves. */
  readonly isWithoutShare: boolean
  call(path: string, body: object, limits: SignerLimits): Promise<unknown>
  /** Leaves that the signer still lacks, as far as is known here. */
  lag(goal: LeafGoal): number
  /** Sends what it lacks, in batches; `limits` holds for each. */
  follow(goal: LeafGoal, limits: SignerLimits): Promise<void>
  nonce(limits: SignerLimits): Promise<Nonce>
  sign(request: SignRequest, limits: SignerLimits): Promise<string>
  close(): void
}

// Eight signatures ahead: with them a checkpoint takes one round trip.
const NONCES_AHEAD = 8
// A signer that answers a batch with the same place over and over would keep us forever.
const GAPS_MAX = 3

export function createMember(index: number, transport: Transport): Member {
  let nonces: Nonce[] = []
  let held: { origin: string; size: number } | undefined
  let following: Promise<void> | undefined
  let isWithoutShare = false
  const reach = (origin: string): number => (held?.origin === origin ? held.size : 0)

  async function sendLeaves(goal: LeafGoal, limits: SignerLimits): Promise<void> {
    let gaps = 0
    while (reach(goal.origin) !== goal.size) {
      // Past the goal (an earlier coordinator's doing): the answer to 0 says where it can go back to.
      const from = reach(goal.origin) < goal.size ? reach(goal.origin) : 0
      const { body, count } = await goal.batch(from)
      const query = new URLSearchParams({ origin: goal.origin, from: String(from) })
      if (from === 0 && goal.voucher !== undefined) query.set('voucher', goal.voucher)
      try {
        if (count === 0) throw new RangeError(`No leaf at ${from} of ${goal.size}`)
        const reply = (await transport.call(`/leaves?${query}`, body, limits)) as LeavesReply
        held = { origin: goal.origin, size: reply.size }
      } catch (error) {
        const place = placeOf(error, goal.size)
        if (place === undefined || ++gaps > GAPS_MAX) throw error
        held = { origin: goal.origin, size: place }
      }
    }
  }

  const look = async (limits: SignerLimits): Promise<Status> => {
    const status = (await transport.call('/status', undefined, limits)) as Status
    isWithoutShare = status.active === null
    return status
  }
  return {
    index,
    look,
    get isWithoutShare() {
      return isWithoutShare
    },
    status: async (limits) => {
      const status = await look(limits)
      held = status.held ?? undefined
      return status
    },
    call: (path, body, limits) => transport.call(path, body, limits),
    lag: (goal) => Math.max(0, goal.size - reach(goal.origin)),
    async follow(goal, limits) {
      // Another caller's failure is that caller's to hear of.
      while (following !== undefined) await following.catch(() => undefined)
      following = sendLeaves(goal, limits).finally(() => (following = undefined))
      await following
    },
    async nonce(limits) {
      if (nonces.length === 0) {
        const reply = await transport.call('/commit', { count: NONCES_AHEAD }, limits)
        nonces = [...(reply as CommitReply).nonces]
      }
      return checked(nonces.shift(), index)
    },
    async sign(request, limits) {
      try {
        return ((await transport.call('/sign', request, limits)) as SignReply).share
      } catch (error) {
        const code = error instanceof ErgonError ? error.code : ''
        if (code === 'gap' || code === 'root_mismatch') held = undefined
        if (code === 'unknown_nonce') nonces = []
        throw error
      }
    },
    close: () => transport.close(),
  }
}

/** A nonce of that signer whose points can be read, or the honest ones would refuse what only this one got wrong. */
function checked(nonce: Nonce | undefined, index: number): Nonce {
  if (nonce === undefined || nonce.commitment.index !== index)
    throw new RangeError(`Signer ${index} gave no nonce of its own`)
  readPoint(nonce.commitment.hiding)
  readPoint(nonce.commitment.binding)
  return nonce
}

// Where a signer that refused for a gap can go on: from the leaves it holds, or, when an earlier
// coordinator took it past our goal, from what it has signed.
function placeOf(error: unknown, goal: number): number | undefined {
  if (!(error instanceof ErgonError) || error.code !== 'gap') return undefined
  const { held, signed } = error.details
  if (typeof signed === 'number' && signed > goal)
    throw refusal('size_regression', `Signed ${signed} leaves before: ${goal}`, { cause: error })
  return [held, signed].find((size): size is number => typeof size === 'number' && size <= goal)
}
