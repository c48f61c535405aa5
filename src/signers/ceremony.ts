// The coordinator's side of making the key, at the first start: it carries messages between the five
// and compares what they return. The key counts as made only when all five have stored their share.
import { randomUUID } from 'node:crypto'
import { sleep } from '#base/clock.ts'
import { ErgonError, invariant, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { handoverBody, isHandover } from '#tlog/handover.ts'
import { publicKeyOf } from './frost-key.ts'
import type { Member } from './member.ts'
import type { SignerLimits } from './transport.ts'
import { isSameKey, sharesOf, sharesText } from './shares.ts'
import {
  SIGNERS,
  THRESHOLD,
  type GroupKey,
  type Round1Reply,
  type Round2Reply,
  type Round3Reply,
  type Status,
} from './wire.ts'

// A round takes each signer some 10 ms of CPU, on a machine that may be busy.
const ROUND_TIMEOUT_MS = 15_000
const STATUS_TIMEOUT_MS = 2_000
const RETRY_MS = 500
/** Tries within which signers that come up with a start are there. */
const TRIES_CALM = 20

const WAITS = 'Waits for the signers'

export type Waiting = {
  /** Resolves to true when a first key may be made. Absent: a first key may always be made. */
  readonly mayMakeKey?: () => Promise<boolean>
  /** Called at each change with the reason why there is no key yet. */
  readonly waits?: (reason: string) => void
}

/** `handover` is the word of the key before, where this one followed another. */
export type Established = { readonly group: GroupKey; readonly handover: string | undefined }

/**
 * The key of the group: the one that the signers have, or a new one if all five are there, none has
 * any, and one may be made. Waits for signers until the signal says no. Throws ErgonError `signers_disagree` when they have
 * shares of different keys of which none names the other, which takes an operator to resolve.
 */
export async function establishKey(
  members: readonly Member[],
  waiting: Waiting & { readonly log: Logger },
  signal: AbortSignal,
): Promise<Established> {
  invariant(members.length === SIGNERS, `A group has ${SIGNERS} signers: ${members.length}`)
  let said = ''
  let warned = ''
  for (let tries = 0; ; tries++) {
    signal.throwIfAborted()
    const outcome = await tryOnce(members, waiting, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      if (error instanceof ErgonError && error.code === 'signers_disagree') throw error
      return messageOf(error)
    })
    if (typeof outcome !== 'string') return outcome
    if (outcome !== said) {
      said = outcome
      waiting.waits?.(said)
      if (tries < TRIES_CALM) waiting.log.info(WAITS, { reason: said })
    }
    if (tries >= TRIES_CALM && warned !== said) {
      warned = said
      waiting.log.warn(WAITS, { reason: said })
    }
    await sleep(RETRY_MS, signal)
  }
}

/** The key, or why there is none yet. */
async function tryOnce(
  members: readonly Member[],
  { mayMakeKey }: Waiting,
  signal: AbortSignal,
): Promise<Established | string> {
  const limits = { timeoutMs: STATUS_TIMEOUT_MS, signal }
  const settled = await Promise.allSettled(members.map((member) => member.status(limits)))
  const statuses = new Map<Member, Status>()
  settled.forEach((result, nth) => {
    const member = members[nth]
    if (result.status === 'rejected' || member === undefined) return
    if (result.value.index !== member.index)
      throw disagree(`signer ${result.value.index} answers where ${member.index} should`)
    statuses.set(member, result.value)
  })
  const agreed = agreedKey([...statuses.values()])
  if (agreed === undefined) {
    if (statuses.size < SIGNERS)
      return `${statuses.size} of ${SIGNERS} signers answer, and none has a key`
    if (mayMakeKey !== undefined && !(await mayMakeKey()))
      return 'no signer has a share of the key of the log: put them back, or make a new key (ergon signers new-key)'
    const made = { group: await makeKey(members, signal), handover: undefined }
    return finishAll(members, made, limits)
  }
  const { group } = agreed
  const unfinished = [...statuses].filter(([, status]) => !isSameKey(status.active, group))
  const pending = unfinished.filter(([, status]) => isSameKey(status.pending, group))
  await finishAll(
    pending.map(([member]) => member),
    agreed,
    limits,
  )
  const ready = statuses.size - unfinished.length + pending.length
  if (ready >= THRESHOLD) return agreed
  const views = sharesOf(new Map([...statuses].map(([member, status]) => [member.index, status])))
  return `${ready} signers with a share answer, ${THRESHOLD} are needed: ${sharesText(views)}`
}

// A key in use that names no other one in use as the next; or one of which all five hold a pending share, from a run
// that was cut off at its end.
function agreedKey(statuses: readonly Status[]): Established | undefined {
  const used = statuses.flatMap(({ active, handover }) =>
    active === null ? [] : [{ group: active, handover: handover ?? undefined }],
  )
  const isOver = ({ group }: Established): boolean =>
    used.some(
      (next) =>
        next.handover !== undefined &&
        isHandover(next.handover, publicKeyOf(group), publicKeyOf(next.group)),
    )
  const [first, ...others] = used.filter((each) => !isOver(each))
  if (others.some(({ group }) => !isSameKey(group, first?.group)))
    throw disagree('the signers have shares of different keys')
  if (first !== undefined) return first
  const waiting = statuses[0]?.pending
  const all =
    statuses.length === SIGNERS && statuses.every(({ pending }) => isSameKey(pending, waiting))
  return all && waiting ? { group: waiting, handover: undefined } : undefined
}

async function finishAll(
  members: readonly Member[],
  made: Established,
  limits: SignerLimits,
): Promise<Established> {
  await Promise.all(members.map((member) => member.call('/dkg/finish', made, limits)))
  return made
}

/**
 * A new key for signers that have one, by the word of that one; `sign` gets it signed. Rejects when not all five
 * take part: the key is then what establishKey() says.
 */
export async function succeedKey(
  members: readonly Member[],
  before: { readonly group: GroupKey; readonly sign: (body: string) => Promise<string> },
  signal: AbortSignal,
): Promise<Established> {
  const group = await makeKey(members, signal)
  const handover = await before.sign(handoverBody(publicKeyOf(before.group), publicKeyOf(group)))
  return finishAll(members, { group, handover }, { timeoutMs: ROUND_TIMEOUT_MS, signal })
}

/** The three rounds. Any failure ends the run; the next one starts from nothing. */
async function makeKey(members: readonly Member[], signal: AbortSignal): Promise<GroupKey> {
  const limits = { timeoutMs: ROUND_TIMEOUT_MS, signal }
  const ceremony = randomUUID()
  const each = async <T>(path: string, body: (member: Member) => object): Promise<[Member, T][]> =>
    Promise.all(
      members.map(async (member): Promise<[Member, T]> => {
        return [member, (await member.call(path, body(member), limits)) as T]
      }),
    )
  const packages = byIndex(await each<Round1Reply>('/dkg/round1', () => ({ ceremony })))
  const made = await each<Round2Reply>('/dkg/round2', () => ({ ceremony, packages }))
  const stored = await each<Round3Reply>('/dkg/round3', (to) => ({
    ceremony,
    shares: byIndex(
      made
        .filter(([from]) => from !== to)
        .map(([from, { shares }]): [Member, string | undefined] => [from, shares[to.index]]),
    ),
  }))
  const [first, ...others] = stored.map(([, reply]) => JSON.stringify(reply))
  if (others.some((reply) => reply !== first))
    throw disagree('they did not see the same messages while the key was made')
  const group = stored[0]?.[1].group
  invariant(group !== undefined, 'a ceremony without a key')
  return group
}

const byIndex = <T>(entries: readonly [Member, T][]): Record<string, T> =>
  Object.fromEntries(entries.map(([member, value]) => [member.index, value]))

const disagree = (detail: string): ErgonError =>
  fault('signers_disagree', `Could not use the signers: ${detail}`)
