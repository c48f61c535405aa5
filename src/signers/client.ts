// The coordinator: gets a tree head signed by any three of the five. It takes them in turn and needs to
// be trusted with nothing: the worst it can do is to get no signature.
import { fault } from '#contract/errors.ts'
import { type ErgonError, invariant, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { checkpointBody, formatNote, type Checkpoint } from '#tlog/checkpoint.ts'
import type { LeafContent } from '#tlog/leaf.ts'
import { establishKey, succeedKey, type Established, type Waiting } from './ceremony.ts'
import { publicKeyOf } from './frost-key.ts'
import { createMember, type LeafGoal, type Member } from './member.ts'
import { PATIENCE_MAX, runSession, type SigningTask } from './signing.ts'
import { isSameKey, sharesOf, type SignerShare } from './shares.ts'
import { createTransport } from './transport.ts'
import {
  BATCH_LEAVES_MAX,
  encodeLeaves,
  SIGNERS,
  THRESHOLD,
  type LeafBatch,
  type Position,
  type Status,
} from './wire.ts'

/** Reads leaves from a log position on; at least one, at most `limit`. */
export type LeafSource = (from: number, limit: number) => Promise<readonly LeafContent[]>

export type Quorum = {
  /** Makes the key, or learns it from the signers: the group's Ed25519 public key (32 bytes). */
  open(signal: AbortSignal, waiting?: Waiting): Promise<Buffer>
  /**
   * Makes another key, which the one that open() gave names as the next, and gives it. All five must answer, and
   * three sign; rejects if not, and open() says then which of the two it is.
   */
  succeed(signal: AbortSignal): Promise<Buffer>
  /** The signature of the former key over this key, where there was a former key. */
  handover(): string | undefined
  /** The share of each signer, requested beside all other work. */
  shares(signal: AbortSignal): Promise<SignerShare[]>
  /**
   * The last head of each answering signer with a share of the key; null for a signer that signed nothing yet. A
   * signer that lost its share, or has a share of the former key, does not count among the three.
   */
  positions(signal: AbortSignal): Promise<(Position | null)[]>
  /**
   * Sends all signers the leaves that they lack below a tree size, beside other work, so that sign()
   * finds them there already. Nothing comes of a failure: sign() sends the missing leaves. `voucher` as for sign().
   */
  prepare(origin: string, size: number, leaves: LeafSource, voucher?: string): void
  /**
   * The signed note of a tree head. `leaves` reads the log from any place that a signer still lacks. `voucher` is a
   * signed note of this log, or of the log before it, for signers that missed a whole shard (guard.ts). Throws ErgonError `signers_unavailable` (too few answer: try again) or `signers_refused` (so many
   * refuse that no three are left: the head contradicts what they signed, or a leaf is wrong).
   */
  sign(
    checkpoint: Checkpoint,
    leaves: LeafSource,
    signal: AbortSignal,
    voucher?: string,
  ): Promise<string>
  /** Signers caught with a false share since the start. */
  cheaters(): readonly number[]
  close(): Promise<void>
}

type QuorumDeps = {
  /** The sockets of signers 1 to 5, in order. */
  readonly sockets: readonly string[]
  readonly log: Logger
  /** The silence of a signer after which other signers are asked. */
  readonly silenceMs?: number
}

const SILENCE_MS = 300
const STATUS_TIMEOUT_MS = 2_000

export function createQuorum({ sockets, log, silenceMs = SILENCE_MS }: QuorumDeps): Quorum {
  const members = sockets.map((path, nth) => createMember(nth + 1, createTransport(path)))
  const cheaters = new Set<Member>()
  const closing = new AbortController()
  const roster = createRoster(members, {
    log,
    limits: { timeoutMs: silenceMs * PATIENCE_MAX, signal: closing.signal },
  })
  let key: Established | undefined
  /** A note by any three, and the three. */
  async function signed(goal: LeafGoal, text: Pick<SigningTask, 'body' | 'group' | 'signal'>) {
    const order = () => roster.order(goal)
    const task = { ...goal, ...text, silenceMs }
    const { signature, by } = await runSession(task, { log, cheaters, order })
    return { note: formatNote(text.body, signature, publicKeyOf(text.group)), by }
  }
  return {
    async open(signal, waiting = {}) {
      const limit = AbortSignal.any([signal, closing.signal])
      key = await establishKey(members, { log, ...waiting }, limit)
      return publicKeyOf(key.group)
    },
    async succeed(caller) {
      invariant(key !== undefined, 'succeed() before open()')
      const signal = AbortSignal.any([caller, closing.signal])
      const { group } = key
      const sign = async (body: string) => (await signed(NO_LEAVES, { body, group, signal })).note
      key = await succeedKey(members, { group, sign }, signal)
      return publicKeyOf(key.group)
    },
    handover: () => key?.handover,
    async shares(signal) {
      const limits = { timeoutMs: STATUS_TIMEOUT_MS, signal }
      const statuses = new Map<number, Status>()
      await Promise.allSettled(
        members.map(async (member) => statuses.set(member.index, await member.look(limits))),
      )
      signal.throwIfAborted()
      const caught = new Set([...cheaters].map(({ index }) => index))
      return sharesOf(statuses).map((each) =>
        caught.has(each.index) ? { ...each, share: 'false share' } : each,
      )
    },
    async positions(signal) {
      const answered = await statusesOf(members, signal)
      return answered
        .filter(({ active }) => isSameKey(active, key?.group))
        .map((each) => each.signed)
    },
    prepare: (origin, size, leaves, voucher) =>
      roster.followAll(goalOf({ origin, size }, leaves, voucher)),
    async sign(checkpoint, leaves, caller, voucher) {
      invariant(key !== undefined, 'sign() before open()')
      const signal = AbortSignal.any([caller, closing.signal])
      const goal = goalOf(checkpoint, leaves, voucher)
      const body = checkpointBody(checkpoint)
      roster.turn()
      const { note, by } = await signed(goal, { body, group: key.group, signal })
      // The three keep the note for the link of a later shard; a failure loses only that.
      const limits = { timeoutMs: silenceMs, signal }
      await Promise.allSettled(by.map((member) => member.call('/note', { note }, limits)))
      return note
    },
    cheaters: () => [...cheaters].map((member) => member.index),
    async close() {
      closing.abort(closed())
      await roster.settle()
      for (const member of members) member.close()
    },
  }
}

const closed = (): ErgonError =>
  fault('signers_unavailable', 'Could not sign: the client is closed')

async function statusesOf(members: readonly Member[], signal: AbortSignal): Promise<Status[]> {
  const limits = { timeoutMs: STATUS_TIMEOUT_MS, signal }
  const settled = await Promise.allSettled(members.map((member) => member.status(limits)))
  signal.throwIfAborted()
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}

const goalOf = (
  { origin, size }: Pick<Checkpoint, 'origin' | 'size'>,
  leaves: LeafSource,
  voucher: string | undefined,
): LeafGoal => ({ origin, size, batch: batchesOf(leaves, size), voucher })

/** A goal that is no tree head needs no leaves. */
const NO_LEAVES: LeafGoal = {
  origin: '',
  size: 0,
  batch: () => Promise.reject(new RangeError('No leaves are asked for')),
}

// A signer further behind than this is brought up beside the signing, not within it.
const LAG_MAX = 16_384

type RosterDeps = {
  readonly log: Logger
  readonly limits: { readonly timeoutMs: number; readonly signal: AbortSignal }
}

// A checkpoint of a busy log has eight batches, 3 MB; a signer that was away for long takes thousands.
const BATCHES_KEPT = 8

/** Read and encoded once for all signers that go on from the same place: most of the time, all five. */
function batchesOf(leaves: LeafSource, size: number): LeafGoal['batch'] {
  const read = new Map<number, Promise<LeafBatch>>()
  return (from) => {
    const known = read.get(from)
    if (known !== undefined) return known
    const batch = leaves(from, Math.min(BATCH_LEAVES_MAX, size - from)).then(encodeLeaves)
    read.set(from, batch)
    for (const first of read.keys()) if (read.size > BATCHES_KEPT) read.delete(first)
    return batch
  }
}

/** The signers of the current turn, and those that still catch up. */
function createRoster(members: readonly Member[], { log, limits }: RosterDeps) {
  const followers = new Map<Member, Promise<void>>()
  const reasons = new Map<Member, string>()
  let first = 0
  function followAside(member: Member, goal: LeafGoal): void {
    if (followers.has(member) || member.isWithoutShare || member.lag(goal) === 0) return
    const failed = (error: unknown): void => {
      const reason = messageOf(error)
      // A busy log would say it twenty times a second of a signer that is away.
      if (limits.signal.aborted || reasons.get(member) === reason) return
      reasons.set(member, reason)
      log.warn('Signer does not follow', { signer: member.index, reason })
    }
    const done = member.follow(goal, limits).then(() => void reasons.delete(member), failed)
    followers.set(
      member,
      done.finally(() => followers.delete(member)),
    )
  }
  return {
    turn: () => (first = (first + 1) % SIGNERS),
    followAll(goal: LeafGoal): void {
      for (const member of members) followAside(member, goal)
    },
    /** By turn; one that did not follow, or is far behind, catches up beside, unless it is needed. */
    order(goal: LeafGoal): Member[] {
      const byTurn = [...members.slice(first), ...members.slice(0, first)]
      const isNear = (member: Member) =>
        member.lag(goal) <= LAG_MAX && !reasons.has(member) && !member.isWithoutShare
      const near = byTurn.filter(isNear)
      const others = byTurn.filter((member) => !isNear(member))
      if (near.length < THRESHOLD) return [...near, ...others]
      for (const member of others) followAside(member, goal)
      return near
    },
    settle: () => Promise.all(followers.values()),
  }
}
