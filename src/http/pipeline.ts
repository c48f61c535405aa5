// The life of a request:
//
//   step      in                      refused with (a step of the API)
//   parse     http/server             400 408 431
//   form      http/request-form       400 414
//   host      http/host-rule          421
//   expect    http/request-form       417
//   match     http/api-protocol       404 405 421 501
//   fresh     charging/session        waits up to 1 s for a late ledger, refuses nothing
//   identify  identity/identity       401 503
//   arrive    http/request-arrival    403 409 429
//   admit     charging/open-spend     402 429 503
//   body      http/json-body          400 408 413 415 503
//   claim     http/idempotency        400 409 422 503
//   handle    the product's operation 4xx 5xx
//   settle    charging/open-spend     writes the journal
//   reply     http/send               carries the figures
//   post      ledger/tick.sql         later, by the session
//   seal      receipts/sealer         later, by the sealer
//
// Every request of every protocol is answered here. Any throw becomes one ErgonError: the answer with all energy
// headers before the head was sent, the last part of the stream after that. In every case the spend is settled once,
// and an unread body is drained or its socket closed. serve.ts has the steps from `handle` on.
import type { ErgonError } from '#base/errors.ts'
import { nj } from '#base/units.ts'
import type { Charging } from '#charging/charging.ts'
import { isDepleted, isExhausted } from '#charging/faults.ts'
import type { Spend } from '#charging/spend.ts'
import { isAnsweredUnpaid } from '#contract/operation.ts'
import { operationOf, type OperationName } from '#contract/operations.ts'
import type { Principal } from '#identity/principal.ts'
import { RequestArrival, type RequestArrivalDeps } from './request-arrival.ts'
import type { ProtocolHandler } from './protocol-handler.ts'
import type { Exchange } from './exchange.ts'
import type { Idempotency } from './idempotency.ts'
import { discardBody } from './json-body.ts'
import { UNPAID_BODY_BYTES_MAX } from './limits.ts'
import { checkExpectation, checkForm } from './request-form.ts'
import type { RequestCounts } from './request-counts.ts'
import { sendRefusal, serve, serveOnce, type ServeDeps } from './serve.ts'
import type { UnsentReplies } from './unsent-replies.ts'

// Ceiling of reading and refusing a request, until its own ceiling is known: 0.3 s of CPU at 3.5 J/s.
// Below 50 ms a collection, a cold gateway or a body of some MiB was cut with 402 (one start of five).
const FIRST_CEILING = nj(1_000_000_000n)

export type PipelineDeps = ServeDeps &
  RequestArrivalDeps & {
    readonly charging: Charging
    /** Chooses by Host and first path segment. Throws host_unknown. */
    readonly protocolOf: (exchange: Exchange) => ProtocolHandler
    /** The protocol that answers when none could be chosen. */
    readonly fallback: ProtocolHandler
    readonly idempotency: Idempotency
    readonly counts: Pick<RequestCounts, 'add'>
    /** Sees every request target, which may contain a token. */
    readonly exposures: { see(target: string): void }
  }

type AnswerDeps = PipelineDeps & { readonly unsent: UnsentReplies }

/** Answers one exchange, and resolves when the reply has left or its connection has ended; never throws. */
export async function answer(exchange: Exchange, deps: AnswerDeps): Promise<void> {
  try {
    await conduct(exchange, deps)
  } catch (error) {
    // Not even the refusal could be made, as when the journal has failed: no figures leave.
    deps.log.error('A request could not be answered', { path: exchange.path, error })
    exchange.response.destroy()
  }
}

async function conduct(exchange: Exchange, deps: AnswerDeps): Promise<void> {
  const begunMs = performance.now()
  const spend = deps.charging.open()
  exchange.requestId = spend.requestId
  exchange.spend = spend
  let protocol = deps.fallback
  exchange.protocolHeaders = protocol.headers ?? []
  const arrival = new RequestArrival(exchange, deps)
  let operation: OperationName = 'service.nobody'
  spend.onCut((reason) => exchange.end(reason))
  try {
    checkForm(exchange.request)
    deps.exposures.see(exchange.request.url ?? '')
    protocol = deps.protocolOf(exchange)
    exchange.protocolHeaders = protocol.headers ?? []
    if (protocol.ignoresExpectations !== true) checkExpectation(exchange.request)
    const matched = protocol.match(exchange)
    ;({ operation } = matched)
    // Callers are not known while the ledger's answer is late; what needs no caller is answered meanwhile.
    if (operationOf(operation).scope !== null) {
      const late = deps.charging.untilFresh(exchange.signal)
      if (late !== undefined) {
        spend.mark()
        await late
      }
    }
    // A known principal is not awaited: an await costs a turn of the promise queue.
    const known = protocol.identify(exchange, matched)
    // The CPU until a wait is this request's: unmarked, the neighbour that goes on meanwhile would pay.
    if (known instanceof Promise) spend.mark()
    const caller = known instanceof Promise ? await known : known
    let unpaid: ErgonError | undefined
    if (caller !== undefined) {
      arrival.arrive(matched, caller)
      const admitted = admit(spend, caller, matched.operation)
      if (admitted instanceof Promise) spend.mark()
      unpaid = admitted instanceof Promise ? await admitted : admitted
      if (unpaid !== undefined) {
        arrival.enterUnpaid(caller.account)
        exchange.bodyLimit = { bytes: UNPAID_BODY_BYTES_MAX, refusal: unpaid }
      }
    }
    const body = await protocol.body(exchange, matched)
    if (!isAnsweredUnpaid(operationOf(operation), body)) {
      if (unpaid !== undefined) throw unpaid
      if (operationOf(operation).answeredUnpaid !== undefined) spend.cutWhereUnpaid()
    }
    const work = { exchange, matched, caller, arrival, body, spend, deps }
    const claimed = deps.idempotency.claim(work)
    await (claimed === undefined ? serve(work) : serveOnce(work, claimed))
  } catch (thrown) {
    await sendRefusal({ exchange, protocol, spend, thrown, deps })
  } finally {
    exchange.close()
    try {
      const charge = spend.settle(exchange.response.statusCode)
      deps.counts.add(operation, charge, performance.now() - begunMs, arrival.reader)
      discardBody(exchange)
      spend.written()
    } finally {
      // A reply that nobody reads is in memory: until then its request is one of those that the caller has running.
      const left = deps.unsent.left(exchange.response, arrival.reader)
      if (left !== undefined) await left
      arrival.leave()
    }
  }
}

/** Admits; the refusal where the account or the token's budget cannot pay, and the operation may be answered all the same. */
function admit(
  spend: Spend,
  caller: Principal,
  operation: OperationName,
): ErgonError | undefined | Promise<ErgonError | undefined> {
  const unpaid = (error: unknown): ErgonError => {
    const { answeredUnpaid, answeredExhausted } = operationOf(operation)
    if (answeredUnpaid !== undefined && isDepleted(error)) return error
    if (answeredExhausted !== undefined && isExhausted(error)) return error
    throw error
  }
  try {
    return spend.admit(caller, operation, FIRST_CEILING)?.then(() => undefined, unpaid)
  } catch (error) {
    return unpaid(error)
  }
}
