// The coordinator: gets a tree head signed by any three of the five. It takes them in turn and needs to
// be trusted with nothing: the worst it can do is to get no signature.
import { ErgonError, invariant, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { checkpointBody, formatNote, type Checkpoint } from '#tlog/checkpoint.ts'
import { establishKey } from './ceremony.ts'
import { publicKeyOf } from './frost-key.ts'
import { createMember, type Goal, type LeafSource, type Member } from './member.ts'
import { PATIENCE_MAX, runSession } from './session.ts'
import { createTransport } from './transport.ts'
import { SIGNERS, THRESHOLD, type GroupKey, type Position } from './wire.ts'

export type Quorum = {
  /** Makes the key, or learns it from the signers: the group's Ed25519 public key (32 bytes). */
  open(signal: AbortSignal): Promise<Buffer>
  /** What each answering signer signed last; null for one that signed nothing yet. */
  positions(signal: AbortSignal): Promise<(Position | null)[]>
  /**
   * The signed note of a tree head. `leaves` reads the log from any place that a signer still lacks.
   * Throws ErgonError `signers_unavailable` (too few answer: try again) or `signers_refused` (so many
   * refuse that no three are left: the head contradicts what they signed, or a leaf is wrong).
   */
  sign(checkpoint: Checkpoint, leaves: LeafSource, signal: AbortSignal): Promise<string>
  /** Signers caught with a false share since the start. */
  cheaters(): readonly number[]
  close(): Promise<void>
}

type QuorumDeps = {
  /** The sockets of signers 1 to 5, in order. */
  readonly sockets: readonly string[]
  readonly log: Logger
  /** How long a signer may be silent before others are asked. */
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
  let group: GroupKey | undefined
  return {
    async open(signal) {
      group = await establishKey(members, log, AbortSignal.any([signal, closing.signal]))
      return publicKeyOf(group)
    },
    async positions(signal) {
      const limits = { timeoutMs: STATUS_TIMEOUT_MS, signal }
      const settled = await Promise.allSettled(members.map((member) => member.status(limits)))
      signal.throwIfAborted()
      return settled.flatMap((result) =>
        result.status === 'fulfilled' ? [result.value.signed] : [],
      )
    },
    async sign(checkpoint, leaves, caller) {
      invariant(group !== undefined, 'sign() before open()')
      const signal = AbortSignal.any([caller, closing.signal])
      const goal: Goal = { origin: checkpoint.origin, size: checkpoint.size, leaves }
      const body = checkpointBody(checkpoint)
      roster.turn()
      const signature = await runSession(
        { ...goal, body, group, silenceMs, signal },
        { log, cheaters, order: () => roster.order(goal) },
      )
      return formatNote(body, signature, publicKeyOf(group))
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
  new ErgonError(
    { code: 'signers_unavailable', status: 503 },
    'Could not sign: the client is closed',
  )

// A signer further behind than this is brought up beside the signing, not within it.
const LAG_MAX = 16_384

type RosterDeps = {
  readonly log: Logger
  readonly limits: { readonly timeoutMs: number; readonly signal: AbortSignal }
}

/** Whose turn it is, and who is still catching up. */
function createRoster(members: readonly Member[], { log, limits }: RosterDeps) {
  const followers = new Map<Member, Promise<void>>()
  let first = 0
  function followAside(member: Member, goal: Goal): void {
    if (followers.has(member)) return
    const failed = (error: unknown): void => {
      if (limits.signal.aborted) return
      log.warn('Signer does not catch up', { signer: member.index, reason: messageOf(error) })
    }
    const done = member.follow(goal, limits).catch(failed)
    followers.set(
      member,
      done.finally(() => followers.delete(member)),
    )
  }
  return {
    turn: () => (first = (first + 1) % SIGNERS),
    /** Those near the goal, by turn; with fewer than three of them, the others after them. */
    order(goal: Goal): Member[] {
      const byTurn = [...members.slice(first), ...members.slice(0, first)]
      const near = byTurn.filter((member) => member.lag(goal) <= LAG_MAX)
      const far = byTurn.filter((member) => member.lag(goal) > LAG_MAX)
      if (near.length < THRESHOLD) return [...near, ...far]
      for (const member of far) followAside(member, goal)
      return near
    },
    settle: () => Promise.all(followers.values()),
  }
}
