// ergon usage: what the account used over a period, grouped; or the last request of this token.
import { nj, pg, printJoules, printMilligrams } from '#base/units.ts'
import { allUsage, type UsageList } from '#cli/all-usage.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, printJson, table } from '#cli/output.ts'
import { spanOf } from '#cli/span.ts'
import type { CommandCall } from '#cli/call.ts'
import type { usageLast } from '#contract/service-replies.ts'

const EXAMPLE = 'ergon usage --from 2026-11-01 --to 2026-12-01'

type UsageEntry = UsageList['data'][number]

export async function run({ options }: CommandCall): Promise<void> {
  if (options['last'] === true) return await last(options)
  const group = String(options['groupBy'] ?? 'service')
  const step =
    options['step'] === undefined ? [] : [`step=${encodeURIComponent(String(options['step']))}`]
  const span = Object.entries(spanOf(options, EXAMPLE)).map(([name, time]) => `${name}=${time}`)
  const words = [...span, `group_by=${encodeURIComponent(group)}`, ...step]
  const list = await allUsage(options, words.join('&'))
  if (options.json) return printJson(list)
  // A function and a database may have one name, and a sign-in at the portal has none of its own.
  const isOfKinds = group === 'resource' || group === 'token'
  print(
    table(
      [
        ...step.map(() => 'FROM'),
        ...(isOfKinds ? ['KIND'] : []),
        group.toUpperCase(),
        'REQUESTS',
        'JOULES',
        ...(step.length === 0 ? ['BAND'] : []),
        'MEASURED',
        'CARBON mg',
        list.unit,
      ],
      list.data.map((row) => [
        ...(row.at === undefined ? [] : [row.at]),
        ...(isOfKinds ? [row.kind ?? ''] : []),
        nameOf(row, group),
        String(row.requests),
        printJoules(nj(BigInt(row.energy_nj))),
        ...(step.length === 0 ? [bandWords(row)] : []),
        measuredShare(row),
        printMilligrams(pg(BigInt(row.carbon_pg))),
        dollars(row.charge_pusd),
      ]),
    ),
  )
  printSums(list)
}

/** The sums of `ergon ledger` and of an evidence pack of the same time. */
function printSums({ data, unit }: UsageList): void {
  const sum = (of: (row: UsageEntry) => bigint | string | number) =>
    data.reduce((all, row) => all + BigInt(of(row)), 0n)
  const energy = printJoules(nj(sum((row) => row.energy_nj)))
  const carbon = printMilligrams(pg(sum((row) => row.carbon_pg)))
  const charge = dollars(sum((row) => row.charge_pusd).toString())
  print(`${sum((row) => row.requests)} requests: ${energy} J, ${carbon} mg CO2e, ${charge} ${unit}`)
}

function nameOf({ group, kind, name }: UsageEntry, groupBy: string): string {
  if (group === null) return `(no ${groupBy})`
  return kind === 'account' ? '(the account itself)' : (name ?? group)
}

/** The measured part of the energy, in whole percent: at 100 nothing was estimated. */
function measuredShare(row: { energy_nj: string; measured_nj: string }): string {
  const [energy, measured] = [BigInt(row.energy_nj), BigInt(row.measured_nj)]
  return energy === 0n ? '' : `${(measured * 100n) / energy} %`
}

/** Empty where it is not known of every charge. */
const bandWords = ({ band_pct: band }: UsageEntry): string =>
  band === null || band === undefined ? '' : `±${band} %`

async function last(options: CommandCall['options']): Promise<void> {
  const { text } = await apiGet(options, '/v1/usage/last')
  if (options.json) return print(text)
  for (const [key, value] of Object.entries(replyOf<typeof usageLast>({ text })))
    print(`${key.padEnd(12)} ${value === null ? '-' : String(value)}`)
}
