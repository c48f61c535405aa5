// The totals of a pack, made again from its charges.
import { recordOf } from './csv.mjs'
import { PackError } from './files.mjs'
import { carbonHere, carbonOf } from './log.mjs'

const TOTALS =
  'month,service,operation,model,region,routed_to,token,resource,charges,requests,energy_nj,band_pct,measured_nj,carbon_pg,charge_pusd'
const MEASURED = new Set(['rapl', 'plug', 'redfish', 'nvml'])

/**
 * Of method.json: `services` has the service of each operation, and `without_request` the operations whose charges stand
 * for no request. Packs of before have no such list.
 */
export function createTotals({ services = {}, without_request: work = [] }) {
  const serviceOf = (operation) => services[operation] ?? 'other'
  const all = noSums()
  const groups = new Map()
  const lists = { meters: new Map(), factors: new Map(), prices: new Map() }
  return {
    all,
    serviceOf,
    add(charge) {
      const key = groupOf(charge, serviceOf(charge.operation))
      if (!groups.has(key)) groups.set(key, noSums())
      const requests = work.includes(charge.operation) ? 0n : BigInt(charge.requests ?? 1)
      for (const sums of [all, groups.get(key)]) addTo(sums, charge, requests)
      addToLists(lists, charge)
    },
    check(csv, method, summary) {
      checkCsv(csv, groups)
      for (const [name, { keyOf, amountOf }] of Object.entries(LISTS))
        checkList(
          name,
          lists[name],
          (method[name] ?? []).map((row) => [keyOf(row), row.energy_nj, amountOf(row)]),
        )
      const stated = SUMMARY.map((name) => summary[name]).join()
      if (stated !== figuresOf(all).join())
        throw new PackError('summary.json', `its figures are ${stated}, not ${figuresOf(all)}`)
    },
  }
}

const SUMMARY = [
  'charges',
  'requests',
  'energy_nj',
  'band_pct',
  'measured_nj',
  'carbon_pg',
  'charge_pusd',
]

function groupOf(charge, service) {
  const { operation, model = '', routed_to: routed, token = '', resource = '' } = charge
  const region = routed.split('/')[1] ?? ''
  const month = charge.to.slice(0, 7)
  return JSON.stringify([month, service, operation, model, region, routed, token, resource])
}

const listed = (...values) => JSON.stringify(values)
const factorKey = ({ zone, mg_per_kwh: mg, source, year, basis }, elsewhere) =>
  listed(zone, mg, source, year, basis, elsewhere)
const meterKey = ({ meter, method, band_pct: band }) => listed(meter, method, band)
const priceKey = ({ price_id: id, pusd_per_j: price, unit, free }) => listed(id, price, unit, free)

/** The lists of method.json. */
const LISTS = {
  meters: { keyOf: meterKey, amountOf: () => 0n },
  factors: { keyOf: (row) => factorKey(row, row.elsewhere), amountOf: (row) => row.carbon_pg },
  prices: { keyOf: priceKey, amountOf: (row) => row.charge_pusd },
}

function addToLists({ meters, factors, prices }, charge) {
  for (const part of charge.parts) {
    const energy = BigInt(part.energy_nj)
    more(meters, meterKey(part), energy, 0n)
    const carbon = part.factor ? carbonOf(energy, part.factor) : 0n
    more(factors, factorKey(part.factor ?? charge.factor, Boolean(part.factor)), energy, carbon)
  }
  more(factors, factorKey(charge.factor, false), 0n, carbonHere(charge))
  more(prices, priceKey(charge), BigInt(charge.energy_nj), BigInt(charge.charge_pusd))
}

function more(map, key, energy, amount) {
  const [sum, amounts] = map.get(key) ?? [0n, 0n]
  map.set(key, [sum + energy, amounts + amount])
}

function checkCsv(csv, groups) {
  const rows = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const lines = rows.map(([key, sums]) => recordOf([...JSON.parse(key), ...figuresOf(sums)]))
  const wanted = [TOTALS, ...lines, '']
  const given = csv.split('\r\n')
  const wrong = wanted.findIndex((line, nth) => line !== given[nth])
  if (wrong < 0 && given.length === wanted.length) return
  const nth = wrong < 0 ? wanted.length : wrong
  throw new PackError('totals.csv', `its line ${nth + 1} is not: ${wanted[nth] ?? 'the end'}`)
}

/** The rows of a list of method.json are those that the charges make. */
function checkList(name, made, rows) {
  const textOf = (list) =>
    list
      .map((row) => row.join(' '))
      .toSorted()
      .join('\n')
  const wanted = textOf([...made].map(([key, [energy, amount]]) => [key, energy, amount]))
  if (wanted !== textOf(rows))
    throw new PackError('method.json', `its ${name} are not those of the charges:\n${wanted}`)
}

const noSums = () => ({
  charges: 0n,
  requests: 0n,
  energy: 0n,
  weight: 0n,
  measured: 0n,
  carbon: 0n,
  money: 0n,
})

function addTo(sums, charge, requests) {
  sums.charges++
  sums.requests += requests
  sums.energy += BigInt(charge.energy_nj)
  sums.carbon += BigInt(charge.carbon_pg)
  sums.money += BigInt(charge.charge_pusd)
  for (const { energy_nj: energy, band_pct: band, method } of charge.parts) {
    sums.weight += BigInt(energy) * BigInt(band)
    if (MEASURED.has(method)) sums.measured += BigInt(energy)
  }
}

/** The band of a sum: those of its parts, weighted by energy, cut after three decimals. */
function figuresOf({ charges, requests, energy, weight, measured, carbon, money }) {
  const band = energy === 0n ? 0n : (weight * 1000n) / energy
  const digits = String(band).padStart(4, '0')
  const percent = `${digits.slice(0, -3)}.${digits.slice(-3)}`.replace(/\.?0+$/, '')
  return [charges, requests, energy, percent === '' ? '0' : percent, measured, carbon, money].map(
    String,
  )
}
