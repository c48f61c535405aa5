// The life of a request:
//
//   limits → match → identify → admit → body → handle → settle → reply  ⇒ tick: post ⇒ sealer: seal
//   431 400  404 405  401 403   429 402  400 413  409 422 4xx 5xx
//
// Every request of every protocol is answered here. Any throw becomes one ErgonError: the answer with all energy
// headers before the head was sent, the last part of the stream after that. In every case the spend is settled once,
// and an unread body is drained or its socket closed.
import type { Clock } from '#base/clock.ts'
import type { ErgonError } from '#base/errors.ts'
import { nj } from '#base/units.ts'
import type { Logger } from '#base/log.ts'
import type { Charging } from '#charging/charging.ts'
import { isDepleted } from '#charging/faults.ts'
import type { Spend } from '#charging/spend.ts'
import { OPERATOR_ERRORS } from '#contract/operator-errors.ts'
import { operationOf, type OperationName } from '#contract/operations.ts'
import { demandScope, type Principal } from '#identity/principal.ts'
import type { AccountLoad } from './account-load.ts'
import type { Call, ProtocolHandler } from './protocol-handler.ts'
import type { Exchange } from './exchange.ts'
import type { Idempotency, HeldKey } from './idempotency.ts'
import { discardBody } from './json-body.ts'
import { checkExpectation, checkForm } from './limits.ts'
import { toErgonError } from './problem.ts'
import { assertStands, type BegunKey, type Handled, type Reply } from './reply.ts'
import type { Refusals } from './refusals.ts'
import type { RequestCounts } from './request-counts.ts'
import type { RequestRates } from './request-rates.ts'
import { sendError, sendKnown, sendStreamed } from './send.ts'

// Ceiling of reading and refusing a request, until its own ceiling is known: 0.3 s of CPU at 3.5 J/s.
// Below 50 ms a collection, a cold gateway or a body of some MiB was cut with 402 (one start of five).
const FIRST_CEILING = nj(1_000_000_000n)

export type PipelineDeps = {
  readonly charging: Charging
  /** Chooses by Host and first path segment. Throws host_unknown. */
  readonly protocolOf: (exchange: Exchange) => ProtocolHandler
  /** The protocol that answers when none could be chosen. */
  readonly fallback: ProtocolHandler
  readonly idempotency: Idempotency
  readonly accounts: AccountLoad
  readonly rates: RequestRates
  readonly counts: Pick<RequestCounts, 'add'>
  readonly refusals: Pick<Refusals, 'add'>
  /** Sees every request target, which may contain a token. */
  readonly exposures: { see(target: string): void }
  /** Sees the error of each refused or failed request. */
  readonly failures: { see(thrown: unknown): void }
  readonly clock: Pick<Clock, 'wallMs'>
  readonly log: Logger
}

/** Answers one exchange; never throws. */
export async function answer(exchange: Exchange, deps: PipelineDeps): Promise<void> {
  try {
    await conduct(exchange, deps)
  } catch (error) {
    // Not even the refusal could be made, as when the journal has failed: no figures leave.
    deps.log.error('A request could not be answered', { path: exchange.path, error })
    exchange.response.destroy()
  }
}

async function conduct(exchange: Exchange, deps: PipelineDeps): Promise<void> {
  const begunMs = performance.now()
  const spend = deps.charging.open()
  exchange.requestId = spend.requestId
  let protocol = deps.fallback
  exchange.protocolHeaders = protocol.headers ?? []
  let caller: string | undefined
  let leave: (() => void) | undefined
  let leaveUnpaid: (() => void) | undefined
  let operation: OperationName = 'service.nobody'
  spend.onCut((reason) => exchange.end(reason))
  try {
    checkForm(exchange.request)
    deps.exposures.see(exchange.request.url ?? '')
    protocol = deps.protocolOf(exchange)
    exchange.protocolHeaders = protocol.headers ?? []
    if (protocol.ignoresExpectations !== true) checkExpectation(exchange.request)
    const call = protocol.match(exchange)
    ;({ operation } = call)
    // Callers are not known while the ledger's answer is late; what needs no caller is answered meanwhile.
    if (operationOf(operation).scope !== null) {
      const late = deps.charging.untilFresh(exchange.signal)
      if (late !== undefined) {
        spend.mark()
        await late
      }
    }
    const arrive = (one: Principal): void => {
      demandScope(one, call.operation, operationOf(call.operation), {
        parameters: call.parameters,
        nowMs: deps.clock.wallMs(),
      })
      caller ??= one.account
      if (leave !== undefined) return
      exchange.limitHeaders = deps.rates.take(one)
      leave = deps.accounts.enter(one.account)
    }
    const arriveAsStranger = (account: string): void => {
      caller ??= account
      leave ??= deps.accounts.enterStranger(account)
    }
    // A known principal is not awaited: an await costs a turn of the promise queue.
    const known = protocol.identify(exchange, call)
    const who = known instanceof Promise ? await known : known
    if (who !== undefined) {
      arrive(who)
      const paid = isPaid(spend, who, call.operation)
      if (!(paid instanceof Promise ? await paid : paid))
        leaveUnpaid = deps.accounts.enterUnpaid(who.account)
    }
    const body = await protocol.body(exchange, call)
    const work = { exchange, call, who, arrive, arriveAsStranger, body, spend, deps }
    const claimed = deps.idempotency.claim(work)
    await (claimed === undefined ? serve(work) : serveOnce(work, claimed))
  } catch (thrown) {
    await refuse({ exchange, protocol, spend, thrown, deps })
  } finally {
    leave?.()
    leaveUnpaid?.()
    exchange.close()
    const charge = spend.settle(exchange.response.statusCode)
    deps.counts.add(operation, charge, performance.now() - begunMs, caller)
    discardBody(exchange)
    spend.written()
  }
}

/** Admits; false where the account cannot pay and is answered all the same. */
function isPaid(
  spend: Spend,
  who: Principal,
  operation: OperationName,
): boolean | Promise<boolean> {
  const unpaid = (error: unknown): boolean => {
    if (operationOf(operation).answeredUnpaid === true && isDepleted(error)) return false
    throw error
  }
  try {
    return spend.admit(who, operation, FIRST_CEILING)?.then(() => true, unpaid) ?? true
  } catch (error) {
    return unpaid(error)
  }
}

type BegunRequest = {
  readonly exchange: Exchange
  readonly call: Call
  readonly who: Principal | undefined
  readonly arrive: (who: Principal) => void
  readonly arriveAsStranger: (account: string) => void
  readonly body: unknown
  readonly spend: Spend
  readonly deps: Pick<PipelineDeps, 'failures' | 'log' | 'refusals'>
}

/** Handles and replies. */
async function serve(work: BegunRequest): Promise<void> {
  const made = handle(work)
  // The CPU until the wait is this request's; later CPU is marked by the request that continues then.
  if (made instanceof Promise) work.spend.mark()
  await reply(work, made instanceof Promise ? await made : made)
}

/** A request with an Idempotency-Key may be answered by an earlier one. */
async function serveOnce(work: BegunRequest, claimed: Promise<HeldKey>): Promise<void> {
  await using key = await claimed
  await reply(work, await key.answer(async (begun) => await handle(work, begun)))
}

function handle(work: BegunRequest, begun?: BegunKey): Reply | Promise<Reply> {
  const { exchange, call, who, body, spend } = work
  const handled: Handled<never> = {
    who,
    arrive: work.arrive,
    arriveAsStranger: work.arriveAsStranger,
    parameters: call.parameters,
    query: () => exchange.query,
    headers: exchange.request.headers as Readonly<Record<string, string | undefined>>,
    socket: exchange.request.socket,
    body: body as never,
    spend,
    signal: exchange.signal,
    begun,
  }
  return call.endpoint.handle(handled)
}

function reply(work: BegunRequest, made: Reply): Promise<void> {
  const { exchange, spend } = work
  if (made.kind === 'streamed')
    return sendStreamed(exchange, spend, made, (error, thrown) => report(work, error, thrown))
  assertStands(made, exchange.signal)
  return sendKnown(exchange, spend, made)
}

/** Keeps the refusal for the operator, and logs a failure that is neither the caller's nor an upstream's. */
function report(
  { exchange, spend, deps }: Pick<BegunRequest, 'exchange' | 'spend' | 'deps'>,
  error: ErgonError,
  thrown: unknown,
): void {
  deps.refusals.add(spend.requestId, error)
  deps.failures.see(thrown)
  if (error.code !== 'internal' && !Object.hasOwn(OPERATOR_ERRORS, error.code)) return
  deps.log.error('A request failed', {
    request: spend.requestId,
    path: exchange.path,
    error: thrown,
  })
}

async function refuse(work: {
  exchange: Exchange
  protocol: ProtocolHandler
  spend: Spend
  thrown: unknown
  deps: BegunRequest['deps']
}): Promise<void> {
  const { exchange, protocol, spend } = work
  // The abort is the cause; an error that follows from the abort is not.
  const error = toErgonError(exchange.signal.aborted ? exchange.signal.reason : work.thrown)
  report(work, error, work.thrown)
  if (exchange.response.headersSent || exchange.response.destroyed) {
    spend.settle(error.status)
    exchange.response.destroy()
    return
  }
  const rendered = protocol.render(error, { requestId: spend.requestId, exchange })
  await sendError(exchange, spend, error, rendered)
}
