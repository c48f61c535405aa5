// A Spend is the cost of one request, or of another piece of work, while it runs: its hold, its use, and in the end
// one Charge. Every protocol opens, admits, marks and settles; products only claim and name the server.
import type { ErgonError } from '#base/errors.ts'
import type { Nj } from '#base/units.ts'
import type {
  CarbonFactor,
  Charge,
  EnergyBand,
  EnergyMethod,
  Tier,
} from '#contract/ledger/charge.ts'
import type { OperationName } from '#contract/operations.ts'
import type { JoinedThread } from '#metering/marks.ts'
import type { TailClass } from '#metering/tail.ts'
import type { Recorded } from './journal.ts'

/** The account that pays, identified by the protocol. */
export type Payer = {
  readonly account: string
  readonly token?: string
  readonly env: 'live' | 'test'
  readonly funded: boolean
  /** Ids of energy budgets that limit what is spent, and never pay. */
  readonly budgets?: readonly string[]
}

/**
 * The use of a cell or upstream for this work so far: cumulative, so the last value counts. CPU never falls. The joules
 * of an upstream may fall when its declared figure replaces our count.
 */
export type Claim =
  | {
      readonly kind: 'cpu'
      readonly cell: string
      readonly cpuNs: bigint
      /** Time of steps on the GPU, of a cell that uses it. */
      readonly gpuNs?: bigint
    }
  | {
      readonly kind: 'upstream'
      readonly meter: string
      readonly method: EnergyMethod
      readonly bandPct: number
      readonly energyNj: Nj
      /** Of where it was spent. */
      readonly factor?: CarbonFactor
      /** A part of the machine's idle power: cumulative apart from the meter's other energy. */
      readonly idle?: true
    }

/** Method and band of an upstream's energy, and the carbon factor of its place. */
export type EnergyElsewhere = EnergyBand & { readonly factor?: CarbonFactor }

/** When what is charged happened, where that is not while the work is open. */
export type Span = { readonly fromMs: number; readonly toMs: number }

/** Facts for the receipt, filled in as they become known. */
export type Served = {
  model?: string
  tier?: Tier
  /** operator/region/silicon */
  routedTo?: string
  resource?: string
  /** The cell of the resource that used the energy. */
  cell?: string | undefined
  promptTokens?: number | undefined
  completionTokens?: number | undefined
  /** SHA-256 in hex of the product of the work: the receipt signs it. */
  subjectSha256?: string
  /** Of the upstream that was asked; undefined where this node's meter sees it all. */
  upstream?: EnergyElsewhere | undefined
}

/** The most that work can be billed, and the server of the work. Never stored as a charge. */
export type Estimate = {
  readonly ceilingNj: Nj
  readonly factor: CarbonFactor
  readonly routedTo: string
  readonly tier: Tier
  /** The text of X-Energy-Method: how the energy is known, with the widest band that its parts may have. */
  readonly energyMethod: string
}

export interface Spend {
  readonly requestId: string
  readonly receiptId: string
  /**
   * Takes a hold for the work, or raises the cap of an earlier one. Synchronous when the leases are warm. `least` is
   * spent as soon as the work is asked for, before anything is known of it: a payer who cannot hold that much is not
   * admitted. Throws balance_depleted, free_tier_exceeded, budget_exhausted, state_unavailable.
   */
  admit(payer: Payer, operation: OperationName, ceiling: Nj, least?: Nj): void | Promise<void>
  /** The body of the work is none that is answered where its account cannot pay: from now on the work is cut there. */
  cutWhereUnpaid(): void
  /** Takes the hold up to the whole cap at once; false, and nothing taken, when the leases cannot. */
  cover(): boolean
  /** This process's CPU since the last mark (of anybody) is this work's, at the end of this turn at the latest. */
  mark(): void
  /**
   * For work whose CPU another thread of this process counts: what it counted for this. Marks do not
   * charge that CPU to anybody else (metering/marks.ts).
   */
  claimThread(thread: JoinedThread, cpuNs: number): void
  /**
   * The work has done units beyond the request itself, by a statement that took `elapsedMs`. A unit has a learned rate of
   * its own for what it causes in shared cells. For operations whose work there grows with a number, where own CPU hardly
   * does.
   */
  countUnits(count: number, elapsedMs: number): void
  /** Energy spent elsewhere for this work, cumulative per cell or meter; fires `cut` when the hold is used up. */
  claim(used: Claim): void
  /**
   * The claim of a whole answer: from here on nothing is cut for want of energy. The ledger is asked for the energy
   * beyond the hold, until it refuses once; the operator pays the rest. Never rejects; synchronous when the leases are
   * warm.
   */
  finish(used?: Claim): void | Promise<void>
  /**
   * The operator absorbs the energy that cells and upstreams spent until now: its answer failed. The energy is
   * journaled with the spend as a charge to no account. The claims begin again at zero.
   */
  absorb(): void
  /** Everything that was measured so far, be it held or not. */
  measured(): Nj
  /** The server of the request, as its receipt names it. */
  served(facts: Served): void
  /** Aborts when the hold cannot grow, the token is revoked, or the service drains. */
  readonly cut: AbortSignal
  /** Called when that happens, by the opener of the spend: a signal is made only where somebody listens. */
  onCut(act: (reason: ErgonError) => void): void
  /** The error to answer with when `cut` fired. */
  readonly cutReason: ErgonError | undefined
  /** The figures in the head of a stream, before the final ones are known. */
  estimate(): Estimate
  /** The greatest ceiling that it was admitted with, without what it causes elsewhere; a later admit may add to it. */
  readonly ceilingNj: Nj
  /**
   * The bill is at most the measured energy and this much more; the operator pays for use beyond that. For the head of
   * a stream, which then says so.
   */
  bound(restNj: Nj): void
  /**
   * Journals the work as it stands: its receipt id is about to leave, long before it settles. A process that is killed
   * in between is billed this much.
   */
  announce(status: number): void
  /** Idempotent and synchronous: price, min(measured, held), journal write. Throws when the journal cannot be written. */
  settle(status: number, tail?: TailClass): Charge
  /**
   * Settles at the end of this turn of the event loop, for less CPU: the clock is read once for all spends that settle
   * there. Resolves once the charge is journaled, so that its figures may leave. Rejects when the charge cannot be
   * journaled: no figure may leave.
   */
  settleAtTurnEnd(status: number, tail?: TailClass): Promise<Charge>
  /**
   * Calls back once what was settled or announced is journaled, so that it may leave: at the end of this turn of
   * the event loop, or, with `journal=sync`, when it survives a power cut. With a failure nothing may leave.
   */
  recorded(tell: Recorded): void
}
