// The end of a request: its handler runs, and its reply or its refusal is sent. pipeline.ts has all steps before.
import type { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Spend } from '#charging/spend.ts'
import { OPERATOR_ERRORS } from '#contract/operator/operator-errors.ts'
import type { Principal } from '#identity/principal.ts'
import type { RequestArrival } from './request-arrival.ts'
import type { Exchange } from './exchange.ts'
import type { HeldKey } from './idempotency.ts'
import { toErgonError } from './problem.ts'
import type { MatchedOperation, ProtocolHandler } from './protocol-handler.ts'
import type { Refusals } from './refusals.ts'
import { assertStands, type BegunKey, type OperationCall, type Reply } from './reply.ts'
import { sendError, sendKnown, sendStreamed } from './send.ts'

export type ServeDeps = {
  readonly refusals: Pick<Refusals, 'add'>
  /** Sees the error of each refused or failed request. */
  readonly failures: { see(thrown: unknown): void }
  readonly log: Logger
}

/** A request whose body is parsed: its handler runs. */
export type BegunRequest = {
  readonly exchange: Exchange
  readonly matched: MatchedOperation
  readonly caller: Principal | undefined
  readonly arrival: RequestArrival
  readonly body: unknown
  readonly spend: Spend
  readonly deps: ServeDeps
}

// The CPU until a wait is this request's; later CPU is marked by the request that continues then.

/** Handles and replies. */
export async function serve(work: BegunRequest): Promise<void> {
  const made = begin(work)
  await reply(work, made instanceof Promise ? await made : made)
}

/** A request with an Idempotency-Key may be answered by an earlier one. */
export async function serveOnce(work: BegunRequest, claimed: Promise<HeldKey>): Promise<void> {
  work.spend.mark()
  await using key = await claimed
  await reply(work, await key.answer(async (begun) => await begin(work, begun)))
}

function begin(work: BegunRequest, begun?: BegunKey): Reply | Promise<Reply> {
  const made = handle(work, begun)
  if (made instanceof Promise) work.spend.mark()
  return made
}

function handle(work: BegunRequest, begun?: BegunKey): Reply | Promise<Reply> {
  const { exchange, matched, arrival, caller, body, spend } = work
  const call: OperationCall<never> = {
    caller,
    arrive: (one) => arrival.arrive(matched, one),
    arriveAsStranger: (account) => arrival.arriveAsStranger(account),
    parameters: matched.parameters,
    query: () => exchange.query,
    headers: exchange.request.headers as Readonly<Record<string, string | undefined>>,
    socket: exchange.request.socket,
    body: body as never,
    spend,
    signal: exchange.signal,
    begun,
  }
  return matched.endpoint.handle(call)
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

/** Answers with the refusal in the form of the protocol; a begun answer is cut instead. */
export async function sendRefusal(work: {
  exchange: Exchange
  protocol: ProtocolHandler
  spend: Spend
  thrown: unknown
  deps: ServeDeps
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
