// The arrival of one request, once its head or its body has named the caller: the caller is judged by its scope and counted
// by its rate. The request is among the running requests of its account until the reply has left.
import type { Clock } from '#base/clock.ts'
import { operationOf } from '#contract/operations.ts'
import { demandScope, type Principal } from '#identity/principal.ts'
import type { AccountLoad } from './account-load.ts'
import type { Exchange } from './exchange.ts'
import type { MatchedOperation } from './protocol-handler.ts'
import type { RequestRates } from './request-rates.ts'

export type RequestArrivalDeps = {
  readonly accounts: AccountLoad
  readonly rates: RequestRates
  readonly clock: Pick<Clock, 'wallMs'>
}

export class RequestArrival {
  /**
   * The account of its first name, which reads the reply. A stranger has none, also where an account pays.
   */
  reader: string | undefined
  readonly #exchange: Exchange
  readonly #deps: RequestArrivalDeps
  #leave: (() => void) | undefined
  #leaveUnpaid: (() => void) | undefined

  constructor(exchange: Exchange, deps: RequestArrivalDeps) {
    this.#exchange = exchange
    this.#deps = deps
  }

  /** Judges each name, and counts the first. Throws scope_missing, rate_limit_exceeded, too_many_requests. */
  arrive({ operation, parameters }: MatchedOperation, caller: Principal): void {
    const { clock, rates, accounts } = this.#deps
    demandScope(caller, operation, operationOf(operation), { parameters, nowMs: clock.wallMs() })
    this.reader ??= caller.account
    if (this.#leave !== undefined) return
    this.#exchange.limitHeaders = rates.take(caller)
    this.#leave = accounts.enter(caller.account)
  }

  /** A caller without a name, for whom the account pays. Throws too_many_requests. */
  arriveAsStranger(account: string): void {
    this.#leave ??= this.#deps.accounts.enterStranger(account)
  }

  /** Counts a request that the operator pays because the account cannot, until the reply has left. Throws too_many_requests. */
  enterUnpaid(account: string): void {
    this.#leaveUnpaid = this.#deps.accounts.enterUnpaid(account)
  }

  /** Ends the counts; called once the reply has left. */
  leave(): void {
    this.#leave?.()
    this.#leaveUnpaid?.()
  }
}
