// A Spend for tests that holds its users to the protocol: admitted before anything is claimed,
// ceilings and claims of CPU only grow, nothing after settling. Its charge is a real one.
import { invariant, type ErgonError } from '#base/errors.ts'
import { carbonOf, energyOfCpu, nj, priceOf, sum, type Nj } from '#base/units.ts'
import type { Recorded } from '#charging/journal.ts'
import type { Served, Spend, Claim } from '#charging/spend.ts'
import { chargeBytes, parseCharge, type Charge, type ChargePart } from '#contract/ledger/charge.ts'
import { fault } from '#contract/errors.ts'

export type StrictSpend = Spend & {
  readonly claims: readonly Claim[]
  readonly facts: Served
  readonly admissions: readonly Nj[]
  /** The least hold of each admission. */
  readonly leasts: readonly Nj[]
  /** The rest of a stream from its first piece on. */
  readonly rests: readonly Nj[]
  readonly settled: Charge | undefined
  /** Absorbed energy. */
  readonly absorbed: readonly Claim[]
  /** The gateway's own energy: a figure with all its digits. */
  readonly ownNj: Nj
  /** Cuts as a revoked token or a drain does. */
  cutNow(reason: ErgonError): void
}

const NJ_PER_CPU_S = 20_000_000_000n
const MG_PER_KWH = 473_000n
const PUSD_PER_J = 69_444n
const FACTOR = {
  zone: 'WORLD',
  mg_per_kwh: MG_PER_KWH.toString(),
  source: 'test',
  year: '2025',
  basis: 'assumed',
}
const SERVED = {
  factor: FACTOR,
  routedTo: 'ergon/local/cpu-test',
  tier: 'L0',
  energyMethod: 'model; band=40%',
} as const

const refuse = () =>
  invariant(false, 'models only claim: mark(), claimThread() and countUnits() are not theirs')
/** The fields that have nothing to do with the charge. */
function alike() {
  const rests: Nj[] = []
  return {
    requestId: 'req_01arz3ndektsv4rrffq69g5fav',
    receiptId: 'rcpt_01arz3ndektsv4rrffq69g5fav',
    mark: refuse,
    claimThread: refuse,
    countUnits: refuse,
    cutWhereUnpaid: refuse,
    recorded: (tell: Recorded) => tell(),
    onCut: refuse,
    rests,
    bound(rest: Nj) {
      invariant(rest > 0n, 'bound to nothing more')
      rests.push(rest)
    },
  }
}

/** `holdNj`: where `cut` fires; none by default. */
export function createStrictSpend(options: { holdNj?: bigint; ownNj?: bigint } = {}): StrictSpend {
  const cut = new AbortController()
  const ownNj = nj(options.ownNj ?? 123_456_789n)
  const claims: Claim[] = []
  const admissions: Nj[] = []
  const leasts: Nj[] = []
  const facts: Served = {}
  const latest = new Map<string, Claim>()
  const { absorb, absorbed } = absorbing(latest)
  let cutReason: ErgonError | undefined
  let charge: Charge | undefined

  const ceiling = () => admissions.at(-1) ?? nj(0n)
  const parts = () => partsOf(ownNj, latest)
  const energy = () => sum(parts().map((part) => nj(BigInt(part.energy_nj))))

  const take = (used: Claim) => {
    invariant(charge === undefined && admissions.length > 0, 'claimed beside its life')
    keepLatest(latest, used)
    claims.push(used)
  }

  const cutNow = (reason: ErgonError) => {
    cutReason = reason
    cut.abort(reason)
  }

  const settle = (status: number): Charge =>
    (charge ??= chargeOf({ status, facts, parts: parts(), energyNj: energy() }))

  return {
    claims,
    facts,
    admissions,
    leasts,
    ownNj,
    cut: cut.signal,
    get cutReason() {
      return cutReason
    },
    get settled() {
      return charge
    },
    get ceilingNj() {
      return ceiling()
    },
    estimate: () => ({ ...SERVED, ceilingNj: ceiling() }),
    admit(payer, operation, ceiling, least = nj(0n)) {
      invariant(charge === undefined, 'admitted after settling')
      invariant(payer.account !== '' && operation.length > 0, 'admitted without a payer')
      invariant(ceiling > (admissions.at(-1) ?? 0n) && least <= ceiling, 'a ceiling that is wrong')
      admissions.push(ceiling)
      leasts.push(least)
    },
    cover: () => options.holdNj === undefined,
    ...alike(),
    claim(used) {
      take(used)
      if (options.holdNj === undefined || energy() <= options.holdNj || cutReason) return
      cutNow(fault('balance_depleted', 'The hold is used up'))
    },
    finish: take,
    absorb,
    absorbed,
    measured: energy,
    cutNow,
    served(more) {
      invariant(charge === undefined, 'facts after settling')
      Object.assign(facts, more)
    },
    announce: () => invariant(charge === undefined, 'announced after settling'),
    settle,
    settleAtTurnEnd: async (status) => settle(status),
  }
}

const partsOf = (ownNj: Nj, latest: ReadonlyMap<string, Claim>): ChargePart[] => [
  { meter: 'gateway', method: 'model', band_pct: '40', energy_nj: ownNj.toString() },
  ...[...latest].map(([meter, used]) => ({
    meter,
    method: used.kind === 'cpu' ? ('model' as const) : used.method,
    band_pct: used.kind === 'cpu' ? '40' : String(used.bandPct),
    energy_nj: energyOf(used).toString(),
  })),
]

function keepLatest(latest: Map<string, Claim>, used: Claim): void {
  const key = used.kind === 'cpu' ? used.cell : used.meter
  const before = latest.get(key)
  const grows = before === undefined || energyOf(used) >= energyOf(before)
  invariant(grows || used.kind === 'upstream', 'a claim of CPU that shrank')
  latest.set(key, used)
}

function absorbing(latest: Map<string, Claim>) {
  const absorbed: Claim[] = []
  const absorb = () => {
    absorbed.push(...latest.values())
    latest.clear()
  }
  return { absorb, absorbed }
}

const energyOf = (used: Claim): Nj =>
  used.kind === 'cpu' ? energyOfCpu(used.cpuNs, NJ_PER_CPU_S) : used.energyNj

function chargeOf(of: {
  status: number
  facts: Served
  parts: ChargePart[]
  energyNj: Nj
}): Charge {
  const { status, facts, parts, energyNj } = of
  const at = '2026-11-21T10:00:00.000Z'
  const charge: Charge = {
    v: '1',
    id: 'rcpt_01arz3ndektsv4rrffq69g5fav',
    request: 'req_01arz3ndektsv4rrffq69g5fav',
    session: 'gw-1.1',
    seq: '1',
    account: 'acct_01arz3ndektsv4rrffq69g5fav',
    operation: 'chat.create',
    ...(facts.model && { model: facts.model }),
    tier: facts.tier ?? 'L0',
    routed_to: facts.routedTo ?? 'ergon/local/cpu-x64',
    status,
    from: at,
    to: at,
    parts,
    energy_nj: energyNj.toString(),
    carbon_pg: carbonOf(energyNj, MG_PER_KWH).toString(),
    factor: FACTOR,
    pue_milli: '1000',
    price_id: 'price_test',
    pusd_per_j: PUSD_PER_J.toString(),
    free: false,
    charge_pusd: priceOf(energyNj, PUSD_PER_J).toString(),
    unit: 'tUSD',
    env: 'test',
    salt: 'AAAAAAAAAAAAAAAAAAAAAA',
  }
  return parseCharge(chargeBytes(charge))
}
