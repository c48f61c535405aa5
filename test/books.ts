// The ledger of a running Ergon and the faults of its books, read by SQL alone, so that no code of the product
// vouches for itself.
import { setTimeout as pause } from 'node:timers/promises'
import type { EnergyMethod } from '#contract/ledger/charge.ts'
import { EVENTS } from '#contract/events.ts'
import type { Ergon } from './start-ergon.ts'

/** A charge as its canonical bytes say. */
export type ChargeRow = {
  readonly id: string
  readonly request: string
  /** The number of requests that share the charge; absent for one request. */
  readonly requests?: string
  readonly account: string
  readonly token?: string
  readonly operation: string
  readonly model?: string
  readonly tier: string
  readonly routed_to: string
  readonly status: number
  readonly energy_nj: string
  readonly carbon_pg: string
  readonly charge_pusd: string
  readonly pusd_per_j: string
  readonly free: boolean
  readonly unit: string
  readonly parts: readonly {
    readonly meter: string
    readonly method: EnergyMethod
    readonly band_pct: string
    readonly energy_nj: string
    readonly factor?: { readonly zone: string; readonly basis: string }
  }[]
  readonly prompt_tokens?: string
  readonly completion_tokens?: string
}

const POST_MAX_MS = 60_000
const RETURN_MAX_MS = 60_000
const POLL_MS = 25

/** The charges of these receipts, waited for until the ledger has all of them. */
export async function chargesOf(
  ergon: Ergon,
  receipts: readonly string[],
): Promise<Map<string, ChargeRow>> {
  const deadline = performance.now() + POST_MAX_MS
  for (;;) {
    const rows = await ergon.sql<{ id: string; bytes: Buffer }>(
      'select id, bytes from charges where id = any ($1)',
      [receipts],
    )
    if (rows.length === new Set(receipts).size)
      return new Map(rows.map(({ id, bytes }) => [id, JSON.parse(bytes.toString()) as ChargeRow]))
    if (performance.now() > deadline) {
      const missing = receipts.filter((receipt) => !rows.some(({ id }) => id === receipt))
      throw new Error(`the ledger has no charge for ${missing.join(', ')}`)
    }
    await pause(POLL_MS)
  }
}

export async function chargeOf(ergon: Ergon, receipt: string): Promise<ChargeRow> {
  const charge = (await chargesOf(ergon, [receipt])).get(receipt)
  if (charge === undefined) throw new Error(`no charge ${receipt}`)
  return charge
}

/** An integer of nano-units as a decimal: no exponent, no trailing zeros. */
export function decimal(amount: string, places: number): string {
  const digits = amount.padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  return `${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`
}
/** The ledger's integers as headers and bodies print them. */
export const joulesOf = (charge: ChargeRow): string => decimal(charge.energy_nj, 9)
export const milligramsOf = (charge: ChargeRow): string => decimal(charge.carbon_pg, 9)

/** The integer of nano-units that a decimal prints. */
export function unitsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(`${whole}${fraction.padEnd(9, '0')}`)
}

/** An unattributed answer's figures for its share of a charge. */
export type Share = {
  readonly receipt: string
  readonly joules: string
  readonly milligrams: string
}

/**
 * Faults between unattributed answers and the charges that they share: the shares add up to the charge, or stay below
 * it where `others` shared it too.
 */
export function shareFaults(
  charges: ReadonlyMap<string, ChargeRow>,
  shares: readonly Share[],
  others: 'others' | 'no others',
): string[] {
  return [...charges.values()].flatMap((charge) => {
    const own = shares.filter(({ receipt }) => receipt === charge.id)
    const sumOf = (key: 'joules' | 'milligrams') =>
      own.reduce((sum, share) => sum + unitsOf(share[key]), 0n)
    const sums = [BigInt(own.length), sumOf('joules'), sumOf('milligrams')]
    const whole = [charge.requests ?? 1, charge.energy_nj, charge.carbon_pg].map(BigInt)
    const isAll = others === 'no others' || sums[0] === whole[0]
    const fits = sums.every((sum, at) => {
      const most = whole[at] ?? 0n
      return isAll ? sum === most : sum <= most
    })
    return fits ? [] : [`${charge.id}: stated ${sums.join(', ')} of ${whole.join(', ')}`]
  })
}

/** Checks of the books. Each statement yields a row for every fault. */
const CHECKS: Readonly<Record<string, string>> = {
  'a row differs from its own bytes': `select id from charges, lateral (select convert_from(bytes, 'UTF8')::jsonb as b) x
     where b ->> 'id' <> id or (b ->> 'energy_nj')::numeric <> energy_nj or b ->> 'account' <> account
       or (b ->> 'charge_pusd')::numeric <> charge_pusd or sha256(bytes) <> hash
       or energy_nj <> (select sum((p ->> 'energy_nj')::numeric) from jsonb_array_elements(b -> 'parts') p)`,
  'a charge is not its energy at its price': `select id from charges, lateral (select convert_from(bytes, 'UTF8')::jsonb as b) x
     where charge_pusd <> case when free then 0 else div(energy_nj * (b ->> 'pusd_per_j')::numeric, 1000000000) end`,
  'an account was not given the energy of its charges': `select w.id from wallets w where w.id like 'energy:%'
       and w.posted <> (select coalesce(sum(energy_nj), 0) from charges where 'energy:' || account = w.id)`,
  'a balance is not what came in less what was charged': `select w.id from wallets w where w.id like 'money:%' and w.posted <>
       (select coalesce(sum(case when credit = w.id then amount else -amount end), 0) from transfers where w.id in (debit, credit))
       - (select coalesce(sum(charge_pusd), 0) from charges where 'money:' || account = w.id)`,
  'the lots of a balance are not its sum': `select w.id from wallets w where w.id like 'money:%'
       and w.posted <> (select coalesce(sum(remaining), 0) from lots where wallet = w.id)`,
  'what is reserved is not what is leased': `select w.id from wallets w
       where w.reserved - w.kept <> (select coalesce(sum(amount), 0) from leases where wallet = w.id)
         or w.kept <> (select coalesce(sum(amount), 0) from reserves where wallet = w.id)`,
  'a charge names a meter that has no reading': `select distinct p ->> 'meter' as meter from charges,
       jsonb_array_elements(convert_from(bytes, 'UTF8')::jsonb -> 'parts') p
     where (p ->> 'energy_nj')::numeric > 0
       -- A standing charge is a part of readings that no request used: its meter is named by the product.
       and operation <> (p ->> 'meter') || '.standing'
       and not exists (select from wallets where id = 'meter:' || (p ->> 'meter'))`,
  'a balance is overdrawn': 'select id from wallets where bounded and posted < 0',
  'a unit does not sum to zero': 'select unit from wallets group by unit having sum(posted) <> 0',
  'leaf numbers have a gap':
    'select 1 from charges having count(*) <> coalesce(max(leaf_index), -1) + 1',
  'a record of a session is missing': `select s.id from sessions s where s.last_seq <>
       (select count(*) from charges c where c.session = s.id) + (select count(*) from windows w where w.session = s.id)
       + (select coalesce(sum(p.windows), 0) from window_rollups p where p.session = s.id)
       + (select coalesce(sum(l.last_seq - l.first_seq + 1), 0) from lost_records l where l.session = s.id)`,
  // The log of a database that its budget ended waits until its next start: that is no fault of the books.
  'the operator is alarmed': "select kind, detail from alarms where kind <> 'database_log_waiting'",
}

/** Faults of the books, in words; empty when everything adds up. */
export async function bookFaults(ergon: Pick<Ergon, 'sql'>): Promise<string[]> {
  const faults: string[] = []
  for (const [fault, statement] of Object.entries(CHECKS)) {
    const rows = await ergon.sql(statement)
    if (rows.length > 0) faults.push(`${fault}: ${JSON.stringify(rows.slice(0, 3))}`)
  }
  return [...faults, ...(await eventFaults(ergon))]
}

/** Events that are not what the contract says. */
async function eventFaults(ergon: Pick<Ergon, 'sql'>): Promise<string[]> {
  const rows = await ergon.sql<{ type: string; data: unknown }>('select type, data from events')
  return rows.flatMap(({ type, data }) => {
    const found = EVENTS[type]?.data.safeParse(data)
    if (found?.success === true) return []
    return [`event ${type}: ${found?.error.message ?? 'not in the contract'}`]
  })
}

/** Waits until nothing of an account's money is reserved any more: no hold is stuck. */
export async function leasesReturned(ergon: Ergon, account: string): Promise<boolean> {
  const deadline = performance.now() + RETURN_MAX_MS
  for (;;) {
    const [row] = await ergon.sql<{ reserved: string }>(
      `select coalesce(sum(reserved - kept), 0)::text as reserved from wallets
       where id = 'money:' || $1 or id like 'free:' || $1 || ':%'`,
      [account],
    )
    if (row?.reserved === '0') return true
    if (performance.now() > deadline) return false
    await pause(250)
  }
}
