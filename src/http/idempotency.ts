// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07) for operations that create or spend:
// the first answer is kept for a day and given again, so that a client that lost it may ask again and is
// not billed twice. Only requests with the header go to the state: once to claim, once to keep.
//
// Answers of 2xx up to 1 MiB are kept, streams as their final text. Of a larger answer only the fact is kept, and
// its repetition is refused. A request that failed, or whose caller left, keeps no answer: its repetition continues
// the work that the request had begun (`once()`), or is a new attempt where no work was begun.
import { createHash } from 'node:crypto'
import type { Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Spend } from '#charging/spend.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { fault } from '#contract/errors.ts'
import { operationOf } from '#contract/operations.ts'
import type { Principal } from '#identity/principal.ts'
import { tailClassOf } from '#metering/tail.ts'
import type { Queryable } from '#state/connect.ts'
import { begunOf, keyIsReused, keyIsRunning } from './begun-key.ts'
import type { MatchedOperation } from './protocol-handler.ts'
import type { Exchange } from './exchange.ts'
import {
  answerKey,
  claimKey,
  forgetKeys,
  releaseKey,
  type KeyClaim,
  type StoredAnswer,
} from './idempotency-store.ts'
import {
  assertStands,
  wireBody,
  type BegunKey,
  type KnownReply,
  type Reply,
  type StreamedReply,
} from './reply.ts'

const HEADER = 'idempotency-key'
const KEY = /^[\x20-\x7e]{1,255}$/
// 2,048 vectors are 17 MB at 1,536 dimensions, and 716 MB at the maximum of 65,536: more than the state can keep for
// a day for every caller with keys.
export const KEPT_BODY_BYTES_MAX = 1024 * 1024
const FORGET_EVERY_MS = 60_000
const RETRY_S = 1

export type IdempotencyDeps = {
  readonly state: Queryable
  readonly session: { readonly id: string }
  readonly clock: Clock
  readonly log: Logger
}
export type KeyedRequest = {
  readonly exchange: Exchange
  readonly matched: MatchedOperation
  readonly caller: Principal | undefined
  readonly spend: Spend
}

/** A key that this request has; disposing of it gives it back unless it was answered. */
export interface HeldKey extends AsyncDisposable {
  /** The earlier answer, or the one that `make` gives, which is kept before its end leaves. */
  answer(make: (begun: BegunKey) => Promise<Reply>): Promise<Reply>
}

export interface Idempotency {
  /**
   * Claims the key of a request; undefined when it has none. Throws invalid_request,
   * idempotency_in_progress, idempotency_key_reused, idempotency_answer_too_large, state_unavailable.
   */
  claim(asked: KeyedRequest): Promise<HeldKey> | undefined
}

export function createIdempotency(deps: IdempotencyDeps): Idempotency {
  const { state, session, clock, log } = deps
  let forgottenMs = clock.monotonicMs()

  function claimOf({ exchange, matched, caller, spend }: KeyedRequest): KeyClaim | undefined {
    const key = exchange.header(HEADER)
    if (key === undefined || caller === undefined || !operationOf(matched.operation).idempotent)
      return undefined
    if (!KEY.test(key))
      throw fault('invalid_request', 'Could not use the Idempotency-Key: 1 to 255 ASCII characters')
    return {
      token: caller.token,
      path: exchange.path,
      key,
      fingerprint: exchange.bodyHash ?? createHash('sha256').digest(),
      session: session.id,
      request: spend.requestId,
    }
  }

  async function take(claim: KeyClaim, asked: KeyedRequest): Promise<HeldKey> {
    const claimed = await claimKey(state, claim).catch((cause: unknown) => {
      throw fault('state_unavailable', 'Could not look up the Idempotency-Key', {
        cause,
        retryAfterS: RETRY_S,
      })
    })
    if (claimed.kind === 'running') throw keyIsRunning()
    if (claimed.kind === 'reused') throw keyIsReused()
    if (claimed.kind === 'answered') return replaying(claimed.answer)
    return keeping(claim, { asked, begun: begunOf(claim, claimed.begun) }, { state, log })
  }

  function forgetSometimes(): void {
    if (clock.monotonicMs() - forgottenMs < FORGET_EVERY_MS) return
    forgottenMs = clock.monotonicMs()
    void forgetKeys(state).catch((error: unknown) =>
      log.warn('Old idempotency keys could not be forgotten', { error: messageOf(error) }),
    )
  }

  return {
    claim(asked) {
      const claim = claimOf(asked)
      if (claim === undefined) return undefined
      forgetSometimes()
      return take(claim, asked)
    },
  }
}

function replaying({ receipt, status, headers, contentType, body }: StoredAnswer): HeldKey {
  if (body === undefined)
    throw fault(
      'idempotency_answer_too_large',
      `Could not answer again: the answer was over ${KEPT_BODY_BYTES_MAX} bytes and is not kept: ${receipt}`,
    )
  return {
    answer: async () => ({
      kind: 'known',
      status,
      headers: { ...headers, 'Idempotency-Replayed': 'true', 'X-Original-Receipt-Id': receipt },
      contentType,
      bytesExpected: body.length,
      body: () => body,
    }),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function keeping(
  claim: KeyClaim,
  { asked, begun }: { asked: KeyedRequest; begun: BegunKey },
  deps: { state: Queryable; log: Logger },
): HeldKey {
  const { exchange, spend } = asked
  const { state, log } = deps
  let kept = false

  /** An answer that cannot be kept still goes out: its energy is spent. */
  async function keep(reply: Reply, charge: Charge, whole: Uint8Array): Promise<void> {
    const body = whole.length > KEPT_BODY_BYTES_MAX ? undefined : whole
    const { status, headers = {}, contentType = 'application/json' } = reply
    const answer = { receipt: charge.id, status, headers, contentType, body }
    kept = await answerKey(state, claim, answer).then(
      () => true,
      (error: unknown) => {
        log.warn('An answer could not be kept for its key', { error: messageOf(error) })
        return false
      },
    )
  }

  async function known(reply: KnownReply): Promise<Reply> {
    assertStands(reply, exchange.signal)
    const charge = await spend.settleAtTurnEnd(reply.status, tailClassOf(reply.bytesExpected ?? 0))
    const body = wireBody(reply.body(charge))
    await keep(reply, charge, Buffer.from(body))
    return { ...reply, body: () => body }
  }

  function streamed(reply: StreamedReply): Reply {
    const copy = createCopy()
    return {
      ...reply,
      chunks: copy.of(reply.chunks),
      async finished(charge, last) {
        copy.add(last)
        await keep(reply, charge, copy.bytes())
      },
    }
  }

  return {
    async answer(make) {
      const reply = await make(begun)
      if (reply.status < 200 || reply.status > 299) return reply
      return reply.kind === 'known' ? await known(reply) : streamed(reply)
    },
    async [Symbol.asyncDispose]() {
      if (kept) return
      await releaseKey(state, claim).catch((error: unknown) =>
        log.warn('An idempotency key could not be given back', { error: messageOf(error) }),
      )
    },
  }
}

/** A copy of the passing chunks, which stops growing one chunk past the size that can be kept. */
function createCopy() {
  const parts: Buffer[] = []
  let bytes = 0
  const add = (chunk: string | Uint8Array) => {
    if (bytes > KEPT_BODY_BYTES_MAX) return
    const part = Buffer.from(chunk)
    bytes += part.length
    parts.push(part)
  }
  return {
    add,
    bytes: () => Buffer.concat(parts),
    async *of(chunks: AsyncIterable<string | Uint8Array>) {
      for await (const chunk of chunks) {
        add(chunk)
        yield chunk
      }
    },
  }
}
