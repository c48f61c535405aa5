// The power of the account, and the joules of a stack today: once, or each second on a terminal until ^C.
import type { liveMessage, LiveMessage } from '#contract/live/live.ts'
import { nj, printJoules } from '#base/units.ts'
import type { CommandCall } from './call.ts'
import { apiBytes, apiGet, replyOf } from './client.ts'
import { dim, EXIT, print } from './output.ts'
import { createReadingPrice } from './reading-price.ts'
import type { usageList } from '#contract/service-replies.ts'

const ERASE_LINE = '\r\u001b[2K'
/** A stream of the service ends after this time; another begins. */
const STREAM_S = 300
const COLUMNS = 80
const DATA = 'data: '
const BETWEEN = ' · '

/** Prints one line where there is no terminal and no --watch. ^C ends with code 0: the work that is shown goes on. */
export async function showJoules(
  options: CommandCall['options'],
  resources: ReadonlySet<string>,
): Promise<void> {
  const isScreen = process.stdout.isTTY
  const isContinuous = isScreen || options['watch'] === true
  const readout = openReadout()
  const priceOf = createReadingPrice()
  const leave = () => {
    readout.close()
    process.exit(EXIT.ok)
  }
  process.once('SIGINT', leave)
  if (isScreen) print(dim('^C leaves it running'))
  let own = await joulesOf(options, resources)
  try {
    do {
      for await (const message of messages(options, isContinuous ? STREAM_S : 1)) {
        // Each request costs: the next one waits for a charge that the readout has not made itself.
        if (isCharged(message)) own = await joulesOf(options, resources)
        const price = isScreen ? priceOf(message) : undefined
        if (price !== undefined) readout.tell(dim(price))
        readout.show(partsOf(message, { nj: own, resources }))
        if (!isContinuous) return
      }
    } while (isContinuous)
  } finally {
    readout.close()
    process.off('SIGINT', leave)
  }
}

/** A line that takes the place of the one before; without a terminal a line each. */
function openReadout() {
  const { stdout } = process
  if (!stdout.isTTY)
    return {
      show: (parts: readonly string[]) => print(parts.join(BETWEEN)),
      tell: print,
      close: () => undefined,
    }
  let isOpen = false
  return {
    show(parts: readonly string[]) {
      isOpen = true
      // A longer line would go on in the next one, which nothing erases.
      stdout.write(`${ERASE_LINE}${fittingLine(parts, (stdout.columns || COLUMNS) - 1)}`)
    },
    /** Above the line, and it stays. */
    tell(line: string) {
      stdout.write(`${ERASE_LINE}${line}\n`)
    },
    close() {
      if (isOpen) stdout.write('\n')
      isOpen = false
    },
  }
}

/** The parts that fit whole, from the first: half a number would read as another one. */
export function fittingLine(parts: readonly string[], columns: number): string {
  const lines = parts.map((_, nth) => parts.slice(0, nth + 1).join(BETWEEN))
  return lines.findLast(({ length }) => length <= columns) ?? ''
}

const isCharged = ({ charges = [], charges_more: more }: LiveMessage): boolean =>
  more !== undefined || charges.some(({ operation }) => operation !== 'usage.get')

/** Charges are made by the minute; the watts are those of now. */
function partsOf(
  { watts, running = [], today }: LiveMessage,
  { nj: ownNj, resources }: { readonly nj: bigint; readonly resources: ReadonlySet<string> },
): string[] {
  const sumOf = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0).toFixed(2)
  const own = running.filter(({ id }) => resources.has(id)).map((one) => one.watts)
  return [
    `joules  ${printJoules(nj(ownNj))} J of this stack today`,
    `${sumOf(own)} W now`,
    `account ${sumOf(Object.values(watts))} W`,
    `${printJoules(nj(BigInt(today.energy_nj)))} J today`,
  ]
}

async function* messages(
  options: CommandCall['options'],
  seconds: number,
): AsyncGenerator<LiveMessage> {
  let text = ''
  for await (const bytes of await apiBytes(options, `/v1/live?seconds=${seconds}`)) {
    text += bytes.toString()
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const lines = event.split('\n')
      const data = lines.find((line) => line.startsWith(DATA))
      if (data !== undefined && !lines.some((line) => line.startsWith('event:')))
        yield replyOf<typeof liveMessage>({ text: data.slice(DATA.length) })
    }
  }
}

/** Charged since 00:00 UTC. */
async function joulesOf(
  options: CommandCall['options'],
  resources: ReadonlySet<string>,
): Promise<bigint> {
  const from = `${new Date().toISOString().slice(0, 10)}T00:00:00Z`
  const { data } = replyOf<typeof usageList>(
    await apiGet(options, `/v1/usage?group_by=resource&limit=1000&from=${from}`),
  )
  // The group is the id of a resource.
  return data.reduce(
    (sum, { group, energy_nj: energy }) =>
      group !== null && resources.has(group) ? sum + BigInt(energy) : sum,
    0n,
  )
}
