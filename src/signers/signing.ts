// The signing of one tree head. Three signers are made ready (leaves sent, a nonce each), then asked
// for their shares. A signer that is silent, refuses or lies is left out, and the rest start over with new
// nonces: the idea of ROAST (Ruffing et al. 2022), without which one slow signer stalls all.
import { ErgonError, messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { Logger } from '#base/log.ts'
import { aggregate } from './frost-signing.ts'
import type { LeafGoal, Member } from './member.ts'
import type { SignerLimits } from './transport.ts'
import { SIGNERS, THRESHOLD, type GroupKey, type Nonce } from './wire.ts'

/** `body` is the text to sign; `silenceMs` is how long a signer may be silent at first. */
export type SigningTask = LeafGoal & {
  readonly body: string
  readonly group: GroupKey
  readonly silenceMs: number
  readonly signal: AbortSignal
}

type SigningDeps = {
  readonly log: Logger
  /** Signers that were caught; those found here are added. */
  readonly cheaters: Set<Member>
  /** The signers in the order to ask them. */
  readonly order: () => readonly Member[]
}

// When too few answer in time everyone is asked again with more patience, so that a slow machine
// signs too: 300, 600, 1200, 2400 ms.
export const PATIENCE_MAX = 8
const ATTEMPTS_MAX = 24
// These heal when the signer is sent what it lacks. A mismatch may come from leaves that an earlier
// client left behind; it lasts if it comes again after the leaves were sent anew.
const PASSING = new Set(['gap', 'unknown_nonce', 'no_key'])
const ONCE = 'root_mismatch'

/** A signature of the group, and the signers that made it. */
type Signed = { readonly signature: Buffer; readonly by: readonly Member[] }

/** Has the task's body signed. Throws as Quorum.sign() says. */
export async function runSession(task: SigningTask, deps: SigningDeps): Promise<Signed> {
  const tally = createTally()
  const source = watchSource(task)
  let patience = 1
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const limits = { timeoutMs: task.silenceMs * patience, signal: task.signal }
    const asked = deps.order().filter((each) => tally.isIn(each) && !deps.cheaters.has(each))
    const ready = await makeReady(asked, source.goal, limits, tally.failed)
    source.rethrow()
    if (ready.size === THRESHOLD) {
      const signature = await signOnce(task, ready, { ...deps, limits, failed: tally.failed })
      if (signature !== undefined) return { signature, by: [...ready.keys()] }
      continue
    }
    if (tally.refusals() > SIGNERS - THRESHOLD - deps.cheaters.size && tally.refusals() > 0)
      throw tally.error('signers_refused')
    if (patience >= PATIENCE_MAX || !tally.askAgain()) break
    patience *= 2
  }
  throw tally.error('signers_unavailable')
}

/** The signers that are left out of this signing, and the reasons: for now, or for good. */
function createTally() {
  const absent = new Map<Member, string>()
  const refused = new Map<Member, string>()
  const mismatched = new Set<Member>()
  return {
    isIn: (member: Member) => !absent.has(member) && !refused.has(member),
    refusals: () => refused.size,
    /** Lets those back in that were only silent; false when there are none. */
    askAgain(): boolean {
      const some = absent.size > 0
      absent.clear()
      return some
    },
    failed(member: Member, error: unknown): void {
      const code = error instanceof ErgonError && error.status === 409 ? error.code : 'gap'
      const lasting = code === ONCE ? mismatched.has(member) : !PASSING.has(code)
      if (code === ONCE) mismatched.add(member)
      const out = lasting ? refused : absent
      out.set(member, `signer ${member.index}: ${messageOf(error)}`)
    },
    error(code: 'signers_refused' | 'signers_unavailable'): ErgonError {
      const reasons = [...refused.values(), ...absent.values()].join('; ')
      return fault(code, `Could not get three signatures: ${reasons}`)
    },
  }
}

type Failed = (member: Member, error: unknown) => void

/** Up to three signers that hold the leaves, with a fresh nonce each. */
async function makeReady(
  asked: readonly Member[],
  goal: LeafGoal,
  limits: SignerLimits,
  failed: Failed,
): Promise<Map<Member, Nonce>> {
  const ready = new Map<Member, Nonce>()
  const waiting = [...asked]
  while (ready.size < THRESHOLD && waiting.length > 0) {
    const next = waiting.splice(0, THRESHOLD - ready.size)
    await Promise.all(
      next.map(async (member) => {
        try {
          if (member.lag(goal) > 0) await member.follow(goal, limits)
          ready.set(member, await member.nonce(limits))
        } catch (error) {
          limits.signal.throwIfAborted()
          failed(member, error)
        }
      }),
    )
  }
  return ready
}

type Round = SigningDeps & { readonly limits: SignerLimits; readonly failed: Failed }

/** One round of shares; undefined when it has to be done again without someone. */
async function signOnce(
  task: SigningTask,
  ready: ReadonlyMap<Member, Nonce>,
  { limits, failed, log, cheaters }: Round,
): Promise<Buffer | undefined> {
  const commitments = [...ready.values()].map((nonce) => nonce.commitment)
  const shares = new Map<number, string>()
  await Promise.all(
    [...ready].map(async ([member, nonce]) => {
      try {
        const request = { message: task.body, nonce: nonce.id, commitments }
        shares.set(member.index, await member.sign(request, limits))
      } catch (error) {
        limits.signal.throwIfAborted()
        failed(member, error)
      }
    }),
  )
  if (shares.size < THRESHOLD) return undefined
  const message = Buffer.from(task.body)
  const result = aggregate(task.group, message, commitments, shares)
  if (result.signature !== undefined) return result.signature
  for (const member of ready.keys()) {
    if (!result.cheaters.includes(member.index)) continue
    cheaters.add(member)
    log.error('Signer gave a false share and is not asked again', { signer: member.index })
  }
  return undefined
}

// A log that cannot be read is no fault of a signer, so its error is kept apart from theirs.
function watchSource(task: SigningTask): { goal: LeafGoal; rethrow(): void } {
  let fault: { error: unknown } | undefined
  return {
    rethrow() {
      if (fault !== undefined) throw fault.error
    },
    goal: {
      origin: task.origin,
      size: task.size,
      voucher: task.voucher,
      batch: async (from) => {
        try {
          return await task.batch(from)
        } catch (error) {
          fault = { error }
          throw error
        }
      },
    },
  }
}
