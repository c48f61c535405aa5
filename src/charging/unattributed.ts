// Requests that are attributed to no account (401, malformed) share one charge per second and status: a flood of them
// costs the journal one record a second. Each reply states its share of that charge, and the shares add up to the
// charge, in energy and in carbon, to the last unit. Until the second is over the charge is provisional: a process that
// is killed loses neither its id nor the stated shares.
import type { Clock } from '#base/clock.ts'
import { invariant } from '#base/errors.ts'
import { add, carbonOf, energyOfCpu, nj, pusd, subtract, type Nj } from '#base/units.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import type { Billed } from '#metering/true-up.ts'
import { chargeText } from './charge-text.ts'
import { composeCharge, type FinishedWork, type BillingTerms } from './compose-charge.ts'
import { nodePart } from './measure.ts'
import type { Session } from './session.ts'
import type { Payer } from './spend.ts'

export const NOBODY: Payer = { account: 'nobody', env: 'test', funded: false }
/** The reported CPU of a request below the resolution of the clock. */
const LEAST_CPU_NS = 1000n

type Refused = Pick<FinishedWork, 'ids' | 'status' | 'fromMs' | 'toMs'> & { readonly cpuNs: number }

type Deps = {
  readonly session: Session
  readonly clock: Clock
  /** The last terms known: refusals are priced even while the state is away. */
  readonly terms: () => BillingTerms
}

/** A charge that requests are still added to. */
type Shared = Pick<FinishedWork, 'ids' | 'status' | 'fromMs'> & {
  readonly second: number
  readonly terms: BillingTerms
  requests: number
  cpuNs: bigint
  energyNj: Nj
  toMs: number
}

export class Unattributed {
  readonly #deps: Deps
  /** Requests that share a charge, by status. */
  readonly #open = new Map<number, Shared>()
  /** Counts each charge that is journaled. */
  readonly #count: (billed: Billed) => void

  constructor(deps: Deps, count: (billed: Billed) => void) {
    this.#deps = deps
    this.#count = count
  }

  /** Adds a request; its share of the charge, with the id of the charge. */
  share(request: Refused): Charge {
    const { session, clock } = this.#deps
    invariant(!session.closed, `the session ${session.id} is closed`)
    this.settle('over')
    const { status, ids, fromMs, toMs } = request
    const second = secondOf(clock)
    const terms = this.#open.get(status)?.terms ?? this.#deps.terms()
    const none = { requests: 0, cpuNs: 0n, energyNj: nj(0n) }
    const shared = this.#open.get(status) ?? { ids, status, second, terms, fromMs, toMs, ...none }
    const measured = BigInt(Math.round(request.cpuNs))
    const cpuNs = measured > LEAST_CPU_NS ? measured : LEAST_CPU_NS
    const energyNj = energyOfCpu(cpuNs, terms.tariff.njPerCpuS)
    const carbonBefore = carbonOfShared(shared)
    shared.requests++
    shared.cpuNs += cpuNs
    shared.energyNj = add(shared.energyNj, energyNj)
    shared.toMs = toMs
    this.#open.set(status, shared)
    session.provisional(shared.ids.receipt, () => ({
      bytes: chargeText(this.#compose(shared)),
      debits: [],
    }))
    return {
      ...this.#compose(shared),
      parts: [nodePart(terms.tariff, energyNj.toString())],
      energy_nj: energyNj.toString(),
      // Rounded down once, for all of them: what one lacks for a whole picogram the next one brings.
      carbon_pg: subtract(carbonOfShared(shared), carbonBefore).toString(),
    }
  }

  /** Journals the charges whose second is over; all of them before the session ends. */
  settle(which: 'over' | 'all'): void {
    const { session, clock } = this.#deps
    if (session.closed) return
    const second = secondOf(clock)
    for (const [status, shared] of this.#open) {
      if (which === 'over' && shared.second === second) continue
      const charge = this.#compose(shared)
      session.append('charge', chargeText(charge), [])
      session.settled(charge.id)
      this.#open.delete(status)
      this.#count({ chargedNs: shared.cpuNs, accruedNj: shared.energyNj })
    }
  }

  #compose(shared: Shared): Charge {
    const { session } = this.#deps
    const { terms, energyNj } = shared
    return composeCharge({
      ...shared,
      payer: NOBODY,
      operation: 'service.nobody',
      served: {},
      cost: pusd(0n),
      parts: [nodePart(terms.tariff, energyNj.toString())],
      record: { session: session.id, seq: session.nextSeq },
    })
  }
}

const secondOf = (clock: Clock): number => Math.floor(clock.wallMs() / 1000)
const carbonOfShared = ({ energyNj, terms }: Shared) =>
  carbonOf(energyNj, BigInt(terms.tariff.factor.mg_per_kwh))
