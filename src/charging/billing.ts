// The end of a spend: the only place that makes charges. A charge is journaled here before its figures leave, and
// counts in the totals that are compared with the node's meter.
import type { Bagged } from '#base/bag.ts'
import { newIdBody } from '#base/ids.ts'
import { priceOf, pusd } from '#base/units.ts'
import { LEARNED, type Charge, type ChargePart } from '#contract/ledger/charge.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Debit, TickResult } from '#ledger/tick.ts'
import { createTails, type TailClass } from '#metering/tail.ts'
import {
  addBilled,
  addByCell,
  NOTHING_BILLED,
  type Billed,
  type BilledByCell,
} from '#metering/true-up.ts'
import { chargeText } from './charge-text.ts'
import type { ChargingDeps } from './charging-deps.ts'
import { composeCharge, energyOf, type FinishedWork, type BillingTerms } from './compose-charge.ts'
import { silent } from './faults.ts'
import type { Hold } from './hold.ts'
import { IndirectBills, type Indirect } from './indirect.ts'
import type { Measure } from './measure.ts'
import { NOBODY, Unattributed } from './unattributed.ts'
import type { Served, Span } from './spend.ts'
import { readTariff } from './tariff.ts'

/** A spend as the billing sees it. */
export type Billable = Bagged & {
  readonly requestId: string
  readonly receiptId: string
  readonly operation: OperationName
  readonly measure: Measure
  /** Units beyond the request itself, for what it causes in other cells. */
  readonly units: number
  /** Indirect CPU that is on its bill before it ends. */
  readonly takenNs: bigint
  readonly facts: Served
  readonly fromMs: number
  /** When it ended, or ends when it is billed now. */
  readonly toMs: number
  readonly tail: TailClass
  /** A lease pays. */
  readonly isPaid: boolean
  /** While the spend runs: its expected part of the node's energy. */
  readonly billed: Billed
  /** The same of the GPU's energy. */
  readonly billedGpu: Iterable<readonly [cell: string, billed: Billed]>
}

export class Billing {
  readonly unattributed: Unattributed
  readonly indirect: IndirectBills
  readonly #deps: ChargingDeps
  /** Learned: what replies cost after their figures are final. */
  readonly #tails = createTails()
  #written: Billable[] = []
  #settled = NOTHING_BILLED
  readonly #settledGpu = new Map<string, Billed>()
  // Read once for each tick, not for each request.
  #read: { readonly from: TickResult; readonly terms: BillingTerms } | undefined

  constructor(deps: ChargingDeps) {
    this.#deps = deps
    const { session, clock } = deps
    this.indirect = new IndirectBills(clock, session.id)
    const terms = () => this.lastTerms()
    this.unattributed = new Unattributed({ session, clock, terms }, (billed) => this.#count(billed))
  }

  /** Today's terms; throws state_unavailable when the state was silent for too long. */
  terms(): BillingTerms {
    if (!this.#deps.session.fresh) throw silent()
    return this.lastTerms()
  }

  /** The last terms known. */
  lastTerms(): BillingTerms {
    const { latest } = this.#deps.session
    if (latest === undefined) throw silent()
    if (this.#read?.from !== latest) this.#read = { from: latest, terms: readTerms(latest) }
    return this.#read.terms
  }

  /** The sum of all settled spends. */
  get settled(): Billed {
    return this.#settled
  }

  /** The same of the GPU. */
  get settledGpu(): BilledByCell {
    return this.#settledGpu
  }

  /** Journals the charge of a spend that holds, and gives back what it did not use of the hold. */
  settle(spend: Billable, status: number, hold: Hold): Charge {
    const { session } = this.#deps
    const { charge, tailNs, indirect, debits } = this.#bill(spend, status, hold)
    session.append('charge', chargeText(charge), debits)
    session.settled(spend.receiptId)
    hold.end(debits)
    this.indirect.settled(spend.operation, indirect, indirect.cpuNs - spend.takenNs)
    const chargedNs = spend.measure.totalCpuNs() + tailNs + indirect.cpuNs
    this.#count({ chargedNs, accruedNj: energyOf(charge.parts.filter(isOfNode)) })
    addByCell(this.#settledGpu, spend.measure.billedGpu(hold.terms.tariff, hold.billableNj))
    this.#absorb(spend, status, hold.terms)
    return charge
  }

  /** The share of a charge that a spend without a payer has. */
  refuse({ requestId, receiptId, measure, fromMs, toMs }: Billable, status: number): Charge {
    const ids = { receipt: receiptId, request: requestId }
    const charge = this.unattributed.share({ ids, status, fromMs, toMs, cpuNs: measure.cpuNs })
    // The operator absorbs what it causes elsewhere too: that is counted, so that nobody else is billed for it.
    const work = { ownNs: measure.cpuNs, units: 0, takenNs: 0n }
    const caused = this.indirect.of(this.lastTerms().tariff, 'service.nobody', work)
    this.indirect.settled('service.nobody', caused, 0n)
    return charge
  }

  /** Journals the charge of a spend as it stands. */
  announce(spend: Billable, status: number, hold: Hold): void {
    this.#deps.session.provisional(spend.receiptId, () => {
      const { charge, debits } = this.#bill(spend, status, hold)
      return { bytes: chargeText(charge), debits }
    })
  }

  /**
   * A reply is written. Those of a turn are written together, so that the clock is read once for all of them:
   * with five readings for each request the clock was 11 % of a gateway's CPU.
   */
  written(spend: Billable): void {
    this.#written.push(spend)
    if (this.#written.length === 1) queueMicrotask(() => this.#learnTails())
  }

  #learnTails(): void {
    const written = this.#written
    this.#written = []
    const all = { cpuNs: 0 }
    this.#deps.marks.mark(all)
    for (const { isPaid, operation, tail } of written)
      if (isPaid) this.#tails.learn(operation, tail, all.cpuNs / written.length)
  }

  /** Absorbed energy is a charge too: the meter of an upstream is the sum of its charges. */
  #absorb(spend: Billable, status: number, terms: BillingTerms): void {
    const parts = spend.measure.absorbedParts(terms.tariff)
    if (parts.length === 0) return
    this.#count(spend.measure.absorbedCells)
    addByCell(this.#settledGpu, spend.measure.absorbedGpu)
    const receipt = `rcpt_${newIdBody(this.#deps.clock.wallMs())}`
    const charge = this.#compose(spend, {
      operation: 'service.nobody',
      status,
      payer: NOBODY,
      terms,
      parts,
      cost: pusd(0n),
      ids: { receipt, request: spend.requestId },
      served: {},
    })
    this.#deps.session.append('charge', chargeText(charge), [])
  }

  #bill(
    spend: Billable,
    status: number,
    hold: Hold,
  ): { charge: Charge; tailNs: bigint; indirect: Indirect; debits: Debit[] } {
    const { payer, terms } = hold
    const { operation, measure, units, takenNs, facts, tail } = spend
    const tailNs = BigInt(this.#tails.expectedNs(operation, tail))
    const work = { ownNs: measure.cpuNs, units, takenNs }
    const indirect = this.indirect.of(terms.tariff, operation, work)
    const parts = measure.parts(terms.tariff, { tailNs, indirect }, hold.billableNj)
    const energy = energyOf(parts)
    const cost = payer.funded ? priceOf(energy, terms.pusdPerJ) : pusd(0n)
    const debits = hold.debits(energy, cost)
    const ids = { receipt: spend.receiptId, request: spend.requestId }
    const bill = { operation, status, payer, terms, parts, cost, ids, served: facts }
    return { charge: this.#compose(hold.onItsDay(spend), bill), tailNs, indirect, debits }
  }

  #compose({ fromMs, toMs }: Span, bill: Omit<FinishedWork, 'record' | 'fromMs' | 'toMs'>): Charge {
    const { session } = this.#deps
    const record = { session: session.id, seq: session.nextSeq }
    return composeCharge({ ...bill, fromMs, toMs, record })
  }

  #count(billed: Billed): void {
    this.#settled = addBilled(this.#settled, billed)
  }
}

/** The node's own part, the first, and the learned part of its other cells. */
const isOfNode = (part: ChargePart, index: number): boolean =>
  index === 0 || part.method === LEARNED

const readTerms = ({ tariff, price }: TickResult): BillingTerms => ({
  tariff: readTariff(tariff),
  priceId: price.id,
  pusdPerJ: price.pusdPerJ,
})
