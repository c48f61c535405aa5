// Receipts and ledger side by side: each charge has its line, each line its charge, and the balances follow.
import { recordOf, recordsOf, valuesOf } from './csv.mjs'
import { PackError, textOf } from './files.mjs'

const LEDGER = 'ledger.csv'
const HEAD =
  'id,at,kind,amount_pusd,request_id,service,operation,model,energy_nj,reference,balance_pusd'

/** Receipts by number beside the postings of the ledger, which has the charges in the same order. */
export async function checkCharges(files, { receipts, summary, totals }) {
  const ledger = await openLedger(files, summary)
  const names = files.names.filter((name) => name.startsWith('receipts/')).toSorted()
  let [count, last, begins, ends] = [0, undefined, false, false]
  for (const name of names)
    for (const text of (await textOf(files, name)).split(/(?=^c2sp\.org\/tlog-proof@v1$)/m)) {
      const { number, charge } = receipts.read(name, text)
      if (charge.account !== summary.account)
        throw new PackError(name, `receipt ${number} is of the account ${charge.account}`)
      if (last !== undefined && number !== last + 1n)
        throw new PackError(name, `after receipt ${last} comes ${number}: one is missing`)
      if (last === undefined && String(number) !== summary.first_account_seq)
        throw new PackError(
          name,
          `the first receipt is ${number}, not ${summary.first_account_seq}`,
        )
      begins ||= number === 1n || charge.to < summary.from
      ends = charge.to >= summary.to
      last = number
      count++
      if (charge.to < summary.from || charge.to >= summary.to) continue
      await ledger.take(charge, totals.serviceOf(charge.operation))
      totals.add(charge)
    }
  if ((last === undefined ? null : String(last)) !== summary.last_account_seq)
    throw new PackError('receipts', `the last one is ${last}, not ${summary.last_account_seq}`)
  return { receipts: count, entries: await ledger.end(), edges: edgesOf(begins, ends) }
}

/**
 * The edges of the time, by the numbers of the charges. Numbers are given as charges are posted, so a charge of the time that
 * was posted late can have a number after the last receipt.
 */
function edgesOf(begins, ends) {
  if (begins && ends)
    return 'The numbers have no gap from before the time to after it; a charge that was posted later can be missing'
  const edge = begins ? 'after' : ends ? 'before' : 'before or after'
  return `No receipt from ${edge} the time is there: that none is missing at that end is the service's word`
}

/** The running balance of the ledger. */
function createBalance(opening) {
  const sums = { balance: opening, entries: 0, in: 0n, out: 0n }
  return {
    book(record, values) {
      if (values.length !== 11 || !/^-?\d+$/.test(values[3]))
        throw new PackError(LEDGER, `it has no amount: ${record}`)
      const amount = BigInt(values[3])
      sums.balance += amount
      sums.entries++
      if (amount > 0n) sums.in += amount
      else sums.out -= amount
      if (values[10] !== sums.balance.toString())
        throw new PackError(LEDGER, `the balance is not ${sums.balance} after: ${record}`)
    },
    /** Throws where the summary has other sums. */
    end({ entries, opening_pusd: first, in_pusd: came, out_pusd: went, closing_pusd: closing }) {
      const given = [entries, first, came, went, closing].join()
      const found = [sums.entries, opening, sums.in, sums.out, sums.balance].join()
      if (given !== found)
        throw new PackError('summary.json', `its ledger is ${given}, not ${found}`)
      return sums.entries
    },
  }
}

async function openLedger(files, summary) {
  const records = recordsOf(files, LEDGER)
  const next = async () => (await records.next()).value
  if ((await next()) !== HEAD) throw new PackError(LEDGER, 'its first line has other names')
  const opening = valuesOf((await next()) ?? '')
  if (opening[2] !== 'opening' || !/^-?\d+$/.test(opening[10] ?? ''))
    throw new PackError(LEDGER, 'it does not begin with a balance')
  const balance = createBalance(BigInt(opening[10]))
  /** The next charge; payments before it are booked. */
  const nextCharge = async () => {
    for (let record = await next(); record !== undefined; record = await next()) {
      const values = valuesOf(record)
      balance.book(record, values)
      if (values[2] === 'charge') return { record, values }
      if (values[1] < summary.from || values[1] >= summary.to)
        throw new PackError(LEDGER, `it is of another time: ${record}`)
    }
    return undefined
  }
  return {
    async take(charge, service) {
      const found = await nextCharge()
      const line = recordOf([...cellsOf(charge, service), found?.values[10] ?? ''])
      if (found?.record !== line)
        throw new PackError(LEDGER, `the receipt ${charge.id} has no line of its own: ${line}`)
    },
    async end() {
      const more = await nextCharge()
      if (more !== undefined) throw new PackError(LEDGER, `a charge has no receipt: ${more.record}`)
      return balance.end(summary.ledger)
    },
  }
}

function cellsOf(
  { id, to, operation, model = '', energy_nj: energy, charge_pusd: price },
  service,
) {
  const amount = price === '0' ? '0' : `-${price}`
  return [
    id,
    to,
    'charge',
    amount,
    id.replace(/^rcpt_/, 'req_'),
    service,
    operation,
    model,
    energy,
    '',
  ]
}
